// Which thread this is in the gathered convolution with a resident input. It is worked out where it
// is asked for: kept, it would take registers that products need.
#pragma once

#include "runtime/gpu/gathered/resident_arguments.h"
#include "runtime/gpu/gathered/resident_index.h"

namespace winnow {

// The same value, but the compiler does not know it. What depends on it is computed here, not where
// it could be first.
__device__ __forceinline__ int computed_here(int value) {
  asm volatile("" : "+r"(value));
  return value;
}
__device__ __forceinline__ std::uint32_t computed_here(std::uint32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}

__device__ __forceinline__ int this_thread() {
  return computed_here(static_cast<int>(threadIdx.x));
}

template <int kIndex>
__device__ __forceinline__ ResidentBlock this_block(const ResidentArguments& a) {
  constexpr ResidentConvForm kForm = kResidentForms[kIndex];
  const dim3 at = blockIdx;
  return resident_block(kForm, a.g, computed_here(static_cast<int>(at.x)),
                        computed_here(static_cast<int>(at.y)),
                        computed_here(static_cast<int>(at.z)));
}

template <int kIndex>
__device__ __forceinline__ ResidentWarp this_warp(const ResidentArguments& a) {
  return resident_warp(a.g, this_block<kIndex>(a), this_thread() / 32);
}

}  // namespace winnow
