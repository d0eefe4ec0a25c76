// The engine `cusparse-spmm`.
#include <algorithm>
#include <map>

#include "runtime/challenge/engines/cusparse/cusparse_engine.h"
#include "runtime/challenge/engines/cusparse/spmm_block.h"
#include "runtime/challenge/engines/gpu/engine_makers.h"
#include "runtime/challenge/engines/gpu/image_batches.h"
#include "runtime/device/gpu.h"

namespace winnow::challenge {
namespace {

class SpmmEngine : public CusparseEngine {
 public:
  SpmmEngine(const Network& network, const EngineOptions& options);

  std::string kernel() const override;

 private:
  void upload(const SparseImages& images) override;
  void tune() override;
  Categories infer_batch(std::uint32_t first, std::uint32_t last) override;
  void load_batch(std::uint32_t first, std::uint32_t last);
  std::uint32_t block_capacity(std::uint32_t images) const;
  std::uint32_t live_images() const;
  std::uint32_t lit_images(std::uint32_t first, std::uint32_t last) const;
  std::string algorithms() const;

  std::vector<SpmmLayer> weights_;
  std::uint32_t width_ = 1;
  CusparseHandle handle_;  // asked for its version
  std::vector<SpmmBlock> blocks_;
};

SpmmEngine::SpmmEngine(const Network& network, const EngineOptions& options)
    : CusparseEngine(network, options, true), handle_(make_cusparse_handle(stream())) {
  for (std::uint32_t l = 0; l < network.layers(); ++l) {
    const SparseLayer layer = network.layer(l);
    weights_.push_back({.inputs = layer.inputs,
                        .outputs = layer.outputs(),
                        .weights = Spmm(weights_by_output(layer)),
                        .bias = winnow::upload(layer.bias)});
    width_ = std::max({width_, layer.inputs, layer.outputs()});
  }
}

std::string SpmmEngine::kernel() const {
  return cusparse_name(handle_.get()) + " SpMM, fastest algorithm of each layer" + algorithms() +
         ", activations dense fp32 [neuron][image], weights CSR fp32, dead rows dropped" +
         in_batches(batch());
}

// " (CSR_ALG1 of 20, CSR_ALG2 of 100)"
std::string SpmmEngine::algorithms() const {
  std::map<std::string, int> layers_of;
  for (const SpmmLayer& layer : weights_) {
    const std::string algorithm = layer.weights.algorithm();
    if (!algorithm.empty()) ++layers_of[algorithm];
  }
  std::string text;
  for (const auto& [algorithm, count] : layers_of) {
    text += (text.empty() ? " (" : ", ") + algorithm + " of " + std::to_string(count);
  }
  return text.empty() ? "" : text + ")";
}

void SpmmEngine::upload(const SparseImages& images) {
  blocks_.clear();  // room for the new ones
  hold_images(images);
  const std::uint32_t capacity = block_capacity(images.images());
  for (const Stream& stream : streams()) {
    blocks_.emplace_back(capacity, width_, layers(), stream.get());
  }
  const auto all = static_cast<std::uint32_t>(capacity * blocks_.size());
  set_batch(options().images_at_once > 0 ? std::min(all, options().images_at_once) : all);
}

// A block has its share of the memory.
std::uint32_t SpmmEngine::block_capacity(std::uint32_t images) const {
  const auto count = static_cast<std::uint32_t>(streams().size());
  const std::size_t share = usable_gpu_bytes() / count;
  const std::size_t filling = SpmmBlock::bytes_for_filling(width_);
  std::uint32_t most = SpmmBlock::most_images(width_);
  if (options().images_at_once > 0) {
    most = std::min(most, largest_block(options().images_at_once, count));
  }
  return images_per_batch(largest_block(images, count), SpmmBlock::bytes_per_image(width_),
                          share > filling ? share - filling : 0, most);
}

// Runs the first batch; the block with the most images left tries all algorithms of a layer, while
// the others rest. A layer that no image reaches keeps what it has.
void SpmmEngine::tune() {
  load_batch(0, std::min(batch(), images()));
  for (std::uint32_t l = 0; l < layers() && live_images() > 0; ++l) {
    const auto largest = std::ranges::max_element(blocks_, {}, &SpmmBlock::images);
    wait();
    largest->choose_layer(weights_[l], l);
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
      if (block != largest) block->start_layer(weights_[l], l);
    }
    for (SpmmBlock& block : blocks_) block.finish_layer();
  }
}

// The host goes from block to block: what it waits for has had the time of all others.
Categories SpmmEngine::infer_batch(std::uint32_t first, std::uint32_t last) {
  load_batch(first, last);
  count_live(0, lit_images(first, last));
  for (std::uint32_t l = 0; l <= layers(); ++l) {
    for (SpmmBlock& block : blocks_) {
      block.finish_layer();
      if (l < layers()) block.start_layer(weights_[l], l);
    }
    if (l == 0) continue;
    count_live(l, live_images());
    report_layers(l, first, last);
  }
  Categories categories;
  for (const SpmmBlock& block : blocks_) {
    const Categories found = block.categories();
    categories.insert(categories.end(), found.begin(), found.end());
  }
  return categories;
}

void SpmmEngine::load_batch(std::uint32_t first, std::uint32_t last) {
  const std::vector<ImageBlock> parts = blocks(first, last);
  for (std::size_t b = 0; b < parts.size(); ++b) blocks_[b].load(device_images(), parts[b]);
}

std::uint32_t SpmmEngine::live_images() const {
  std::uint32_t sum = 0;
  for (const SpmmBlock& block : blocks_) sum += block.images();
  return sum;
}

// Images that have ones.
std::uint32_t SpmmEngine::lit_images(std::uint32_t first, std::uint32_t last) const {
  std::uint32_t lit = 0;
  for (std::uint32_t i = first; i < last; ++i) lit += first_ones()[i + 1] > first_ones()[i] ? 1 : 0;
  return lit;
}

}  // namespace

std::unique_ptr<Engine> make_cusparse_spmm_engine(const Network& network,
                                                  const EngineOptions& options) {
  return std::make_unique<SpmmEngine>(network, options);
}

}  // namespace winnow::challenge
