#include "runtime/challenge/engines/grouped/grouped_engine.h"

#include <algorithm>

#include "runtime/challenge/engines/gpu/engine_makers.h"
#include "runtime/challenge/engines/gpu/image_batches.h"
#include "runtime/challenge/engines/grouped/kernels/multilayer_kernel.h"
#include "runtime/challenge/engines/grouped/kernels/two_layer_kernel.h"
#include "runtime/device/attribute.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kFirstMultilayer = 2;  // the first layers read bits

MultilayerLimits multilayer_limits(std::uint32_t from) {
  return {.from = from, .most_groups = {most_multilayer_groups(1), most_multilayer_groups(2)}};
}

// [tile][neuron][2 words] from [word][neuron].
std::vector<std::uint32_t> tiles_of_bits(const std::vector<std::uint32_t>& words,
                                         std::uint32_t neurons) {
  constexpr std::uint32_t kWordsPerTile = kGroupImages / 32;
  const std::size_t lines = words.size() / std::max(neurons, 1u);
  std::vector<std::uint32_t> tiles((lines + 1) / kWordsPerTile * kWordsPerTile * neurons);
  for (std::size_t line = 0; line < lines; ++line) {
    for (std::size_t n = 0; n < neurons; ++n) {
      tiles[(line / kWordsPerTile * neurons + n) * kWordsPerTile + line % kWordsPerTile] =
          words[line * neurons + n];
    }
  }
  return tiles;
}

}  // namespace

GroupedEngine::GroupedEngine(const Network& network, const EngineOptions& options)
    : GraphEngine(network, options),
      sms_(device_attribute(cudaDevAttrMultiProcessorCount, options.gpu)),
      half_from_(first_half_layer(options, network.neurons(), network.layers())),
      network_(network, multilayer_limits(std::max(half_from_, kFirstMultilayer)), options.threads,
               options.loading),
      multilayer_from_(network_.multilayer_begin()) {
  fuses_first_two_ = layers() > 1 && can_fuse_two_layers(network_.layer(0), network_.layer(1));
  for (std::uint32_t l = 0; l < multilayer_from_; ++l) drops_ += drops_after_layer(l) ? 1 : 0;
  for_each_multilayer_launch([this](std::uint32_t, std::uint32_t) { ++drops_; });
  counts_ = DeviceBuffer<std::uint32_t>(drops_);
}

std::string GroupedEngine::kernel() const {
  std::string text = "mma.m16n8k16 on groups of outputs";
  if (half_from_ > 1) text += ", activations 2 x fp16";
  if (half_from_ < layers()) text += ", fp16 from layer " + std::to_string(half_from_);
  text += fuses_first_two_ ? ", one launch for the first two layers, then one a layer"
                           : ", one launch a layer";
  if (multilayer_from_ < layers()) {
    text += ", from layer " + std::to_string(multilayer_from_) + " on in shared memory";
  }
  return text + ", in one graph" + in_batches(per_batch_);
}

void GroupedEngine::upload(const SparseImages& images) {
  drop_batches();
  for (auto& buffer : activations_) buffer = DeviceBuffer<std::uint32_t>();  // frees first
  per_batch_ = batch_size(images.images());
  const std::size_t tiles = (per_batch_ + kGroupImages - 1) / kGroupImages;
  for (auto& buffer : activations_) {
    buffer = DeviceBuffer<std::uint32_t>(tiles * kGroupImages * network_.rows());
    CUDA_CHECK(cudaMemsetAsync(buffer.get(), 0, buffer.bytes(), stream()));
  }
  for (auto& ids : ids_) ids = DeviceBuffer<std::uint32_t>(tiles * kGroupImages);
  if (multilayer_from_ < layers()) numbers_ = DeviceBuffer<std::uint32_t>(tiles * kGroupImages);
  words_ = tiles * kWordsPerTile + 2;  // a tile's bits may move across the end
  alive_ = DeviceBuffer<std::uint32_t>(words_ * drops_);
  first_ = DeviceBuffer<std::uint32_t>(words_ * drops_);
  record_batches(images, per_batch_, words_, [this](const std::vector<std::uint32_t>& words) {
    return tiles_of_bits(words, neurons());
  });
}

std::uint32_t GroupedEngine::batch_size(std::uint32_t images) const {
  const std::size_t per_image = std::size_t{network_.rows()} * 2 * sizeof(std::uint32_t) + 64;
  const std::uint32_t size =
      images_per_batch(images, per_image, bytes_for_activations(images), options().images_at_once);
  return size == images ? size : std::max(size / kGroupImages, 1u) * kGroupImages;
}

std::unique_ptr<Engine> make_grouped_engine(const Network& network, const EngineOptions& options) {
  return std::make_unique<GroupedEngine>(network, options);
}

}  // namespace winnow::challenge
