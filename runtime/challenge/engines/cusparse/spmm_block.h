// A block of images on its way through the layers of `cusparse-spmm`, on one stream.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/challenge/engines/cusparse/activations/live_rows.h"
#include "runtime/challenge/engines/cusparse/products/spmm.h"
#include "runtime/challenge/engines/gpu/device_images.h"
#include "runtime/challenge/engines/gpu/image_blocks.h"

namespace winnow::challenge {

struct SpmmLayer {
  std::uint32_t inputs, outputs;
  Spmm weights;
  DeviceBuffer<float> bias;
};

// Activations are dense, [neuron][image], without the images that died in the layers before.
class SpmmBlock {
 public:
  // For at most `capacity` images and layers that take and give at most `width` neurons.
  SpmmBlock(std::uint32_t capacity, std::uint32_t width, std::uint32_t layers, cudaStream_t stream);

  // Device memory that an image takes, and what a block loses at most by rows that begin at
  // multiples of 128 bytes.
  static std::size_t bytes_per_image(std::uint32_t width);
  static std::size_t bytes_for_filling(std::uint32_t width);
  // The highest capacity, however much memory there is.
  static std::uint32_t most_images(std::uint32_t width);

  // Begins at the first layer with these of all images. Asynchronous.
  void load(const DeviceImages& images, const ImageBlock& block);

  // Puts layer number l on the stream. Asynchronous, but for the first time with so many images.
  // Requires that the layer before is finished.
  void start_layer(const SpmmLayer& layer, std::uint32_t l);
  // The same; times the algorithms first, and waits for that.
  void choose_layer(SpmmLayer& layer, std::uint32_t l);

  // Waits for the layer that was started, if there is one, and drops the images that it left dead.
  void finish_layer();

  std::uint32_t images() const { return images_; }  // alive, as far as layers are finished
  // Those, after the last layer. Waits.
  Categories categories() const { return live_.download(stream_); }

 private:
  DenseView view(int buffer, std::uint32_t rows, std::uint32_t columns) const;
  void activate(const SpmmLayer& layer);

  cudaStream_t stream_;
  CusparseHandle handle_;
  std::vector<SpmmPlan> plans_;  // [layers]
  DeviceBuffer<float> y_[2];     // [width][stride of the capacity]: a layer's input, its output
  LiveRows live_;
  PinnedBuffer<std::uint32_t> live_count_;  // [1]
  std::uint32_t images_ = 0;
  std::uint32_t started_rows_ = 0;  // outputs of the layer that is not finished; 0: there is none
};

}  // namespace winnow::challenge
