#include "runtime/challenge/engines/gpu/device_images.h"

#include "runtime/device/cuda_check.h"

namespace winnow::challenge {
namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kWarpsPerBlock = 8;

// ---------------------------------------------------------------------------------- device

// One warp an image.
__global__ void set_ones_kernel(const std::uint64_t* row_begin, const std::uint32_t* neuron,
                                std::uint32_t first, std::uint32_t last, DenseStrides strides,
                                float* y) {
  const std::uint32_t position = blockIdx.x * kWarpsPerBlock + threadIdx.x / kWarp;
  if (position >= last - first) return;
  const std::uint64_t end = row_begin[first + position + 1];
  for (std::uint64_t k = row_begin[first + position] + threadIdx.x % kWarp; k < end; k += kWarp) {
    y[position * strides.per_image + neuron[k] * strides.per_neuron] = 1.0f;
  }
}

}  // namespace

// ------------------------------------------------------------------------------------ host

DeviceImages upload_images(const SparseImages& images) {
  return {.neurons = images.neurons,
          .images = images.images(),
          .row_begin = winnow::upload(images.row_begin),
          .neuron = winnow::upload(images.neuron)};
}

void expand_images(const DeviceImages& images, std::uint32_t first, std::uint32_t last,
                   DenseStrides strides, float* y, cudaStream_t stream) {
  if (first == last) return;
  const std::size_t values = strides.per_image == 1 ? images.neurons * strides.per_neuron
                                                    : std::size_t{last - first} * strides.per_image;
  CUDA_CHECK(cudaMemsetAsync(y, 0, values * sizeof(float), stream));
  const unsigned blocks = (last - first + kWarpsPerBlock - 1) / kWarpsPerBlock;
  set_ones_kernel<<<blocks, kWarp * kWarpsPerBlock, 0, stream>>>(
      images.row_begin.get(), images.neuron.get(), first, last, strides, y);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace winnow::challenge
