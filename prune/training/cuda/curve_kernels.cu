#include <cub/device/device_radix_sort.cuh>

#include "prune/training/cuda/curve_launch.h"
#include "prune/training/cuda/warp_sum.cuh"

namespace winnow {
namespace {

constexpr unsigned kPartThreads = 256;
constexpr unsigned kBlockParts = kPartThreads / kWarpSize;

cudaError_t sort(const SortCall& call, void* workspace, std::size_t& bytes) {
  cudaSetDevice(call.device);
  return cub::DeviceRadixSort::SortKeysDescending(workspace, bytes, call.values, call.sorted,
                                                  call.count, 0, 8 * sizeof(float), call.stream);
}

// A part is the work of a warp.
__global__ void __launch_bounds__(kPartThreads) read_parts(PartsCall call) {
  const unsigned index = blockIdx.x * kBlockParts + threadIdx.x / kWarpSize;
  if (index >= call.count) return;
  const SortedPart part = call.parts[index];
  double squares = 0.0;
#pragma unroll 4
  for (unsigned i = part.first + threadIdx.x % kWarpSize; i <= part.last; i += kWarpSize) {
    const double value = __ldg(call.sorted + i);
    squares += value * value;
  }
  squares = sum_over_warp(squares);
  if (threadIdx.x % kWarpSize != 0) return;
  call.lasts[index] = call.sorted[part.last];
  call.squares[index] = squares;
}

}  // namespace

const char* sort_workspace(int device, unsigned count, std::size_t& bytes) {
  return text_of(sort({.device = device, .count = count}, nullptr, bytes));
}

const char* launch_sort(const SortCall& call) {
  std::size_t bytes = call.workspace_bytes;
  return text_of(sort(call, call.workspace, bytes));
}

const char* launch_parts(const PartsCall& call) {
  cudaSetDevice(call.device);
  const unsigned blocks = (call.count + kBlockParts - 1) / kBlockParts;
  read_parts<<<blocks, kPartThreads, 0, call.stream>>>(call);
  return launch_error();
}

}  // namespace winnow
