// One warp per row.
#include "runtime/gpu/pointwise/softmax.h"

#include <algorithm>
#include <cmath>

#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/layer/indexing.cuh"

namespace winnow {
namespace {

constexpr int kWarp = 32;
constexpr int kRowsPerBlock = 4;
constexpr std::int64_t kMaxBlocks = 65535;

// ---------------------------------------------------------------------------------- device

template <typename Merge>
__device__ __forceinline__ float across_warp(float value, Merge merge) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value = merge(value, __shfl_xor_sync(0xffffffffu, value, step));
  }
  return value;
}

template <typename T>
__global__ void __launch_bounds__(kWarp* kRowsPerBlock)
    softmax_kernel(const T* in, T* out, std::int64_t rows, std::int64_t width) {
  begin_next_launch();
  wait_for_launch_before();
  const int lane = threadIdx.x % kWarp;
  const std::int64_t first = std::int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.x / kWarp;
  for (std::int64_t row = first; row < rows; row += std::int64_t{gridDim.x} * kRowsPerBlock) {
    const T* x = in + row * width;
    T* y = out + row * width;
    float largest = -INFINITY;
    for (std::int64_t i = lane; i < width; i += kWarp) largest = fmaxf(largest, widen(x[i]));
    largest = across_warp(largest, [](float a, float b) { return fmaxf(a, b); });
    float sum = 0.0f;
    for (std::int64_t i = lane; i < width; i += kWarp) sum += expf(widen(x[i]) - largest);
    sum = across_warp(sum, [](float a, float b) { return a + b; });
    for (std::int64_t i = lane; i < width; i += kWarp) {
      y[i] = narrow<T>(expf(widen(x[i]) - largest) / sum);
    }
  }
}

}  // namespace

// ------------------------------------------------------------------------------------ host

void softmax(const void* in, void* out, Precision precision, const Rows& rows,
             cudaStream_t stream) {
  if (rows.count == 0 || rows.width == 0) return;
  const std::int64_t blocks =
      std::min(kMaxBlocks, (rows.count + kRowsPerBlock - 1) / kRowsPerBlock);
  with_element(precision, [&](auto element) {
    using T = decltype(element);
    launch_overlapping(softmax_kernel<T>, {static_cast<unsigned>(blocks), kWarp * kRowsPerBlock},
                       true, stream, static_cast<const T*>(in), static_cast<T*>(out), rows.count,
                       rows.width);
  });
}

}  // namespace winnow
