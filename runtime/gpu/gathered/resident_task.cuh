// What a thread does in the gathered convolution with a resident input.
#pragma once

#include "runtime/gpu/gathered/resident_arguments.h"
#include "runtime/gpu/gathered/resident_index.h"

namespace winnow {

// The same value, but the compiler does not know it. What depends on it is computed here, not where
// it could be first.
__device__ __forceinline__ std::uint32_t computed_here(std::uint32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}

// The same value, of all lanes of a warp: worked out once, not wherever it is read.
__device__ __forceinline__ std::uint32_t worked_out_once(std::uint32_t value) {
  return __shfl_sync(~0u, value, 0);
}

struct ResidentTask {
  ResidentBlock at;
  ResidentWarp warp;
  int lane;
  int share;  // of the group's columns
};

template <int kIndex>
__device__ __forceinline__ ResidentTask resident_task(const ResidentArguments& a, uint3 block,
                                                      std::uint32_t thread) {
  constexpr ResidentConvForm kForm = kResidentForms[kIndex];
  ResidentTask task;
  task.at = resident_block(kForm, a.g, static_cast<int>(block.x), static_cast<int>(block.y),
                           static_cast<int>(block.z));
  task.warp = resident_warp(a.g, task.at, static_cast<int>(thread / 32));
  task.lane = static_cast<int>(thread % 32);
  task.share = resident_share(a.g, task.at.rank, task.warp.split);
  return task;
}

// Of this thread.
template <int kIndex>
__device__ __forceinline__ ResidentTask this_task(const ResidentArguments& a) {
  return resident_task<kIndex>(a, blockIdx, threadIdx.x);
}

// The same, worked out anew: kept, it would take registers that products need.
template <int kIndex>
__device__ __forceinline__ ResidentTask this_task_again(const ResidentArguments& a) {
  const uint3 block = {computed_here(blockIdx.x), computed_here(blockIdx.y),
                       computed_here(blockIdx.z)};
  return resident_task<kIndex>(a, block, computed_here(threadIdx.x));
}

}  // namespace winnow
