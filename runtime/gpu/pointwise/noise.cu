#include "runtime/gpu/pointwise/noise.h"

#include "runtime/device/cuda_check.h"
#include "runtime/gpu/layer/indexing.cuh"

namespace winnow {
namespace {

constexpr int kBlocks = 1024;

// ---------------------------------------------------------------------------------- device

template <typename T>
__global__ void __launch_bounds__(kElementThreads)
    noise_kernel(T* data, std::int64_t count, std::uint32_t seed) {
  const std::int64_t step = std::int64_t{gridDim.x} * kElementThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kElementThreads + threadIdx.x; i < count;
       i += step) {
    data[i] = narrow<T>(noise_value(static_cast<std::uint32_t>(i), seed));
  }
}

}  // namespace

// ------------------------------------------------------------------------------------ host

void fill_noise(void* data, std::int64_t count, Precision precision, std::uint32_t seed,
                cudaStream_t stream) {
  if (count == 0) return;
  with_element(precision, [&](auto element) {
    using T = decltype(element);
    noise_kernel<T><<<kBlocks, kElementThreads, 0, stream>>>(static_cast<T*>(data), count, seed);
  });
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace winnow
