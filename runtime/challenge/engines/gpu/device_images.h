// Images in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/challenge/images.h"
#include "runtime/device/buffer.h"

namespace winnow::challenge {

// SparseImages, CSR by image as they are.
struct DeviceImages {
  std::uint32_t neurons = 0;
  std::uint32_t images = 0;
  DeviceBuffer<std::uint64_t> row_begin;  // [images + 1]
  DeviceBuffer<std::uint32_t> neuron;     // [ones]
};

// Returns when they are there. Throws Error{device} if memory runs out.
DeviceImages upload_images(const SparseImages& images);

// Where value (image, neuron) of a dense matrix lies: at image * per_image + neuron * per_neuron.
// One of them is 1, the other one no less than what it steps over.
struct DenseStrides {
  std::size_t per_image;
  std::size_t per_neuron;
};

// Writes images [first, last) as dense fp32 to `y`; what the strides leave out is set to 0, too.
// Asynchronous.
void expand_images(const DeviceImages& images, std::uint32_t first, std::uint32_t last,
                   DenseStrides strides, float* y, cudaStream_t stream);

}  // namespace winnow::challenge
