#include <cub/device/device_radix_sort.cuh>

#include "prune/training/cuda/curve_launch.h"

namespace winnow {
namespace {

constexpr unsigned kPartThreads = 256, kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

cudaError_t sort(const SortCall& call, void* workspace, std::size_t& bytes) {
  cudaSetDevice(call.device);
  return cub::DeviceRadixSort::SortKeysDescending(workspace, bytes, call.values, call.sorted,
                                                  call.count, 0, 8 * sizeof(float), call.stream);
}

const char* text_of(cudaError_t error) {
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

// Of all lanes, always in the same order.
__device__ double sum_over_warp(double own) {
  for (unsigned half = kLanes / 2; half > 0; half /= 2) {
    own += __shfl_down_sync(kAllLanes, own, half);
  }
  return own;
}

// A part is the work of a warp.
__global__ void __launch_bounds__(kPartThreads) read_parts(PartsCall call) {
  const unsigned index = blockIdx.x * (kPartThreads / kLanes) + threadIdx.x / kLanes;
  if (index >= call.count) return;
  const SortedPart part = call.parts[index];
  double squares = 0.0;
#pragma unroll 4
  for (unsigned i = part.first + threadIdx.x % kLanes; i <= part.last; i += kLanes) {
    const double value = __ldg(part.sorted + i);
    squares += value * value;
  }
  squares = sum_over_warp(squares);
  if (threadIdx.x % kLanes != 0) return;
  call.lasts[index] = part.sorted[part.last];
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
  constexpr unsigned kParts = kPartThreads / kLanes;
  read_parts<<<(call.count + kParts - 1) / kParts, kPartThreads, 0, call.stream>>>(call);
  return launch_error();
}

}  // namespace winnow
