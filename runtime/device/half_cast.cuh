// Elements of either precision as floats, and floats as elements.
#pragma once

#include <cuda_fp16.h>

namespace winnow {

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
