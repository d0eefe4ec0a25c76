#include "runtime/challenge/engines/cusparse/spmm_block.h"

#include <algorithm>
#include <utility>

#include "runtime/challenge/engines/cusparse/activations/dense_columns.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kStrideMultiple = 32;  // rows begin at multiples of 128 bytes

std::uint32_t stride_of(std::uint32_t columns) {
  return (columns + kStrideMultiple - 1) / kStrideMultiple * kStrideMultiple;
}

}  // namespace

SpmmBlock::SpmmBlock(std::uint32_t capacity, std::uint32_t width, std::uint32_t layers,
                     cudaStream_t stream)
    : stream_(stream),
      handle_(make_cusparse_handle(stream)),
      plans_(layers),
      y_{DeviceBuffer<float>(std::size_t{width} * stride_of(capacity)),
         DeviceBuffer<float>(std::size_t{width} * stride_of(capacity))},
      live_(capacity),
      live_count_(1) {}

std::size_t SpmmBlock::bytes_per_image(std::uint32_t width) {
  return 2 * sizeof(float) * std::size_t{width} + 5 * sizeof(std::uint32_t);
}

std::size_t SpmmBlock::bytes_for_filling(std::uint32_t width) {
  return 2 * sizeof(float) * std::size_t{width} * (kStrideMultiple - 1);
}

// Less than 2^31 elements a matrix, with the columns that fill up the last multiple.
std::uint32_t SpmmBlock::most_images(std::uint32_t width) {
  return std::max(kMostNonzeros / width, 2 * kStrideMultiple) - kStrideMultiple;
}

void SpmmBlock::load(const DeviceImages& images, const ImageBlock& block) {
  images_ = block.images();
  started_rows_ = 0;
  live_.reset(block.first, images_, stream_);
  expand_images(images, block.first, block.last, {.per_image = 1, .per_neuron = stride_of(images_)},
                y_[0].get(), stream_);
}

void SpmmBlock::start_layer(const SpmmLayer& layer, std::uint32_t l) {
  if (images_ == 0) return;
  layer.weights.multiply(handle_.get(), view(0, layer.inputs, images_),
                         view(1, layer.outputs, images_), plans_[l]);
  activate(layer);
}

void SpmmBlock::choose_layer(SpmmLayer& layer, std::uint32_t l) {
  if (images_ == 0) return;
  layer.weights.choose(handle_.get(), view(0, layer.inputs, images_),
                       view(1, layer.outputs, images_), plans_[l]);
  activate(layer);
}

// From sums to activations; how many images live is on its way to the host then.
void SpmmBlock::activate(const SpmmLayer& layer) {
  activate_columns(view(1, layer.outputs, images_), layer.bias.get(), live_.alive(), stream_);
  live_.keep(stream_);
  CUDA_CHECK(cudaMemcpyAsync(live_count_.values().data(), live_.count(), sizeof(std::uint32_t),
                             cudaMemcpyDeviceToHost, stream_));
  started_rows_ = layer.outputs;
}

void SpmmBlock::finish_layer() {
  if (started_rows_ == 0) return;
  CUDA_CHECK(cudaStreamSynchronize(stream_));
  const std::uint32_t left = live_count_.values()[0];
  if (left == images_) {
    std::swap(y_[0], y_[1]);
  } else {
    keep_columns(view(1, started_rows_, images_), live_.rows(), view(0, started_rows_, left),
                 stream_);
  }
  images_ = left;
  started_rows_ = 0;
}

DenseView SpmmBlock::view(int buffer, std::uint32_t rows, std::uint32_t columns) const {
  return {
      .rows = rows, .columns = columns, .stride = stride_of(columns), .values = y_[buffer].get()};
}

}  // namespace winnow::challenge
