// The one place where our storage type for half floats meets CUDA's; and loads that widen.
#pragma once

#include <cuda_fp16.h>

#include "runtime/base/half.h"

namespace winnow {

static_assert(sizeof(Half) == sizeof(__half));

inline __half* as_cuda(Half* data) {
  return reinterpret_cast<__half*>(data);
}
inline const __half* as_cuda(const Half* data) {
  return reinterpret_cast<const __half*>(data);
}

// An element as a float.
__device__ __forceinline__ float widen(float value) {
  return value;
}
__device__ __forceinline__ float widen(__half value) {
  return __half2float(value);
}

// A float as an element, rounded to nearest.
template <typename T>
__device__ __forceinline__ T narrow(float value);
template <>
__device__ __forceinline__ float narrow<float>(float value) {
  return value;
}
template <>
__device__ __forceinline__ __half narrow<__half>(float value) {
  return __float2half_rn(value);
}

}  // namespace winnow
