// A chunk: 16 bytes of activations of one neuron, 4 neighbouring images as fp32 or 8 as fp16. A
// thread computes an output for the images of a chunk at a time, with a fp32 sum for each.
//
//   kImages  images of a chunk
//   add      sum[i] += w * x[i] for the images of the chunk x
//   pack     the chunk of kImages values
#pragma once

#include <cstdint>

#include "runtime/device/half_cast.cuh"

namespace winnow {

template <typename T>
struct Chunk;

template <>
struct Chunk<float> {
  static constexpr int kImages = 4;
  static __device__ __forceinline__ void add(const uint4& x, float w, float (&sum)[4]) {
    sum[0] = fmaf(w, __uint_as_float(x.x), sum[0]);
    sum[1] = fmaf(w, __uint_as_float(x.y), sum[1]);
    sum[2] = fmaf(w, __uint_as_float(x.z), sum[2]);
    sum[3] = fmaf(w, __uint_as_float(x.w), sum[3]);
  }
  static __device__ __forceinline__ uint4 pack(const float (&y)[4]) {
    return make_uint4(__float_as_uint(y[0]), __float_as_uint(y[1]), __float_as_uint(y[2]),
                      __float_as_uint(y[3]));
  }
};

template <>
struct Chunk<__half> {
  static constexpr int kImages = 8;
  static __device__ __forceinline__ void add(const uint4& x, float w, float (&sum)[8]) {
    const std::uint32_t pairs[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 pair = __half22float2(reinterpret_cast<const __half2&>(pairs[i]));
      sum[2 * i] = fmaf(w, pair.x, sum[2 * i]);
      sum[2 * i + 1] = fmaf(w, pair.y, sum[2 * i + 1]);
    }
  }
  static __device__ __forceinline__ uint4 pack(const float (&y)[8]) {
    std::uint32_t pairs[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const __half2 pair = __floats2half2_rn(y[2 * i], y[2 * i + 1]);
      pairs[i] = reinterpret_cast<const std::uint32_t&>(pair);
    }
    return make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
  }
};

// Replaces every sum by epilogue(sum, bias). Returns a bit for every result above 0: bit i is image
// i of the chunk.
template <int kImages, typename Epilogue>
__device__ __forceinline__ std::uint32_t activate(const Epilogue& epilogue, float bias,
                                                  float (&sum)[kImages]) {
  std::uint32_t positive = 0;
#pragma unroll
  for (int v = 0; v < kImages; ++v) {
    sum[v] = epilogue(sum[v], bias);
    positive |= (sum[v] > 0.0f ? 1u : 0u) << v;
  }
  return positive;
}

}  // namespace winnow
