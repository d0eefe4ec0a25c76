// The engine `tiled`.
#include <algorithm>

#include "runtime/challenge/engines/gpu/engine_makers.h"
#include "runtime/challenge/engines/gpu/gpu_engine.h"
#include "runtime/challenge/engines/gpu/image_batches.h"
#include "runtime/challenge/engines/tiled/layer_stream.h"
#include "runtime/challenge/engines/tiled/tiled_layer.h"
#include "runtime/device/gpu.h"

namespace winnow::challenge {
namespace {

class TiledEngine : public GpuEngine {
 public:
  TiledEngine(const Network& network, const EngineOptions& options)
      : GpuEngine(network, options), weights_(network), width_(weights_.width()) {}

  std::string kernel() const override;
  std::vector<std::uint32_t> live() const override { return live_; }

 private:
  void upload(const SparseImages& images) override;
  Categories infer() override;
  void infer_batch(std::uint32_t first, std::uint32_t last);
  void load(const ImageBlock& block, std::size_t place, cudaStream_t stream);
  void run_layer(std::uint32_t l, std::uint32_t images, std::size_t place, cudaStream_t stream);
  void append_categories(std::uint32_t first, std::uint32_t last, Categories& categories) const;

  LayerStream weights_;
  std::uint32_t width_;
  DeviceImages images_on_device_;
  std::uint32_t batch_ = 1;  // images that run at a time
  // Of a batch; a block's images lie together, from the place of its first image in the batch on.
  DeviceBuffer<float> y_[2];  // [batch][width], the input of a layer and its output
  DeviceBuffer<std::uint32_t> nonzero_count_;  // [batch]
  DeviceBuffer<std::uint8_t> empty_rows_;      // [batch]
  DeviceBuffer<std::uint32_t> live_counts_;    // [layers + 1]
  std::vector<std::uint32_t> live_;
};

std::string TiledEngine::kernel() const {
  return "32 x 32 tiles in shared memory, activations dense fp32, weights CSR fp32 streamed from "
         "host memory" +
         in_batches(batch_);
}

void TiledEngine::upload(const SparseImages& images) {
  for (DeviceBuffer<float>& y : y_) y = DeviceBuffer<float>();  // room for the new ones
  images_on_device_ = DeviceImages();
  images_on_device_ = upload_images(images);
  const std::size_t bytes_per_image =
      2 * sizeof(float) * width_ + sizeof(std::uint32_t) + sizeof(std::uint8_t);
  const std::uint32_t asked = options().images_at_once;
  const std::uint32_t most = asked == 0 ? kMostTiledImages : std::min(asked, kMostTiledImages);
  batch_ = images_per_batch(images.images(), bytes_per_image, usable_gpu_bytes(), most);
  for (DeviceBuffer<float>& y : y_) y = DeviceBuffer<float>(std::size_t{batch_} * width_);
  nonzero_count_ = DeviceBuffer<std::uint32_t>(batch_);
  empty_rows_ = DeviceBuffer<std::uint8_t>(batch_);
  live_counts_ = DeviceBuffer<std::uint32_t>(layers() + 1);
}

Categories TiledEngine::infer() {
  CUDA_CHECK(cudaMemsetAsync(live_counts_.get(), 0, live_counts_.bytes(), stream()));
  wait();  // all blocks count there
  weights_.restart();
  Categories categories;
  for (std::uint32_t first = 0; first < images(); first += batch_) {
    const std::uint32_t last = first + std::min(batch_, images() - first);
    infer_batch(first, last);
    append_categories(first, last, categories);
  }
  live_.resize(live_counts_.count());
  CUDA_CHECK(cudaMemcpyAsync(live_.data(), live_counts_.get(), live_counts_.bytes(),
                             cudaMemcpyDeviceToHost, stream()));
  CUDA_CHECK(cudaStreamSynchronize(stream()));
  return categories;
}

// Blocks go through a layer together, since they share its weights.
void TiledEngine::infer_batch(std::uint32_t first, std::uint32_t last) {
  const std::vector<ImageBlock> all = blocks(first, last);
  for (std::size_t b = 0; b < all.size(); ++b) load(all[b], all[b].first - first, stream(b));
  for (std::uint32_t l = 0; l < layers(); ++l) {
    for (std::size_t b = 0; b < all.size(); ++b) {
      run_layer(l, all[b].images(), all[b].first - first, stream(b));
    }
    weights_.advance(streams());
    std::swap(y_[0], y_[1]);
    report_layers(l + 1, first, last);
  }
  wait();
}

void TiledEngine::load(const ImageBlock& block, std::size_t place, cudaStream_t stream) {
  expand_images(images_on_device_, block.first, block.last,
                {.per_image = neurons(), .per_neuron = 1}, y_[0].get() + place * width_, stream);
  count_ones(images_on_device_, block.first, block.last, nonzero_count_.get() + place, stream);
  find_empty_rows(nonzero_count_.get() + place, block.images(), empty_rows_.get() + place,
                  live_counts_.get(), stream);
}

void TiledEngine::run_layer(std::uint32_t l, std::uint32_t images, std::size_t place,
                            cudaStream_t stream) {
  tiled_layer({.layer = weights_.current(stream),
               .in = y_[0].get() + place * width_,
               .out = y_[1].get() + place * width_,
               .empty_rows = empty_rows_.get() + place,
               .nonzero_count = nonzero_count_.get() + place,
               .images = images},
              stream);
  find_empty_rows(nonzero_count_.get() + place, images, empty_rows_.get() + place,
                  live_counts_.get() + l + 1, stream);
}

void TiledEngine::append_categories(std::uint32_t first, std::uint32_t last,
                                    Categories& categories) const {
  std::vector<std::uint8_t> empty(last - first);
  CUDA_CHECK(cudaMemcpyAsync(empty.data(), empty_rows_.get(), empty.size(), cudaMemcpyDeviceToHost,
                             stream()));
  CUDA_CHECK(cudaStreamSynchronize(stream()));
  for (std::uint32_t i = 0; i < empty.size(); ++i) {
    if (empty[i] == 0) categories.push_back(first + i);
  }
}

}  // namespace

std::unique_ptr<Engine> make_tiled_engine(const Network& network, const EngineOptions& options) {
  return std::make_unique<TiledEngine>(network, options);
}

}  // namespace winnow::challenge
