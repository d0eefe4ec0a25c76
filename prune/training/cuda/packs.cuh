// 16 bytes of a tensor as floats.
#pragma once

#include <cuda_bf16.h>

namespace winnow {

// A bf16 is the upper half of a float: the two in a word.
__device__ inline float lower_bf16(unsigned word) {
  return __uint_as_float(word << 16);
}
__device__ inline float upper_bf16(unsigned word) {
  return __uint_as_float(word & 0xffff0000u);
}

template <typename T>
struct Pack;

template <>
struct Pack<float> {
  static constexpr int kSize = 4;

  __device__ static void load(const float* from, float (&values)[kSize]) {
    const float4 all = *reinterpret_cast<const float4*>(from);
    values[0] = all.x, values[1] = all.y, values[2] = all.z, values[3] = all.w;
  }
  __device__ static float rounded(float value) { return value; }
  __device__ static void store(float* to, const float (&values)[kSize]) {
    *reinterpret_cast<float4*>(to) = make_float4(values[0], values[1], values[2], values[3]);
  }
};

template <>
struct Pack<__nv_bfloat16> {
  static constexpr int kSize = 8;

  __device__ static void load(const __nv_bfloat16* from, float (&values)[kSize]) {
    const uint4 all = *reinterpret_cast<const uint4*>(from);
    const unsigned words[4] = {all.x, all.y, all.z, all.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      values[2 * i] = lower_bf16(words[i]);
      values[2 * i + 1] = upper_bf16(words[i]);
    }
  }
  __device__ static float rounded(float value) {
    return __bfloat162float(__float2bfloat16_rn(value));
  }
  __device__ static void store(__nv_bfloat16* to, const float (&values)[kSize]) {
    alignas(16) __nv_bfloat162 pairs[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      pairs[i] = __floats2bfloat162_rn(values[2 * i], values[2 * i + 1]);
    }
    *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(pairs);
  }
};

}  // namespace winnow
