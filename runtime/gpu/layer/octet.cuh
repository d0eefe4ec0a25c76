// Eight consecutive elements, as one 16-byte access of half floats or two of floats.
#pragma once

#include <cstdint>

#include "runtime/device/half_cast.cuh"

namespace winnow {

inline constexpr int kOctet = 8;

struct Octet {
  float lane[kOctet];
};

// `from` is aligned to eight elements.
__device__ __forceinline__ Octet load_octet(const __half* from) {
  const uint4 bits = *reinterpret_cast<const uint4*>(from);
  const std::uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
  Octet octet;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = __half22float2(*reinterpret_cast<const __half2*>(&words[i]));
    octet.lane[2 * i] = pair.x;
    octet.lane[2 * i + 1] = pair.y;
  }
  return octet;
}
__device__ __forceinline__ Octet load_octet(const float* from) {
  const float4 low = reinterpret_cast<const float4*>(from)[0];
  const float4 high = reinterpret_cast<const float4*>(from)[1];
  return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

// `to` is aligned to eight elements.
__device__ __forceinline__ void store_octet(__half* to, const Octet& octet) {
  std::uint32_t words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __half2 pair = __floats2half2_rn(octet.lane[2 * i], octet.lane[2 * i + 1]);
    words[i] = *reinterpret_cast<const std::uint32_t*>(&pair);
  }
  *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
}
__device__ __forceinline__ void store_octet(float* to, const Octet& octet) {
  const float(&v)[kOctet] = octet.lane;
  reinterpret_cast<float4*>(to)[0] = make_float4(v[0], v[1], v[2], v[3]);
  reinterpret_cast<float4*>(to)[1] = make_float4(v[4], v[5], v[6], v[7]);
}

// The first `count` elements; without `is_aligned` one by one. The others are 0.
template <typename T>
__device__ __forceinline__ Octet load_octet(const T* from, int count, bool is_aligned) {
  if (is_aligned && count >= kOctet) return load_octet(from);
  Octet octet;
#pragma unroll
  for (int i = 0; i < kOctet; ++i) octet.lane[i] = i < count ? widen(from[i]) : 0.0f;
  return octet;
}

// Likewise.
template <typename T>
__device__ __forceinline__ void store_octet(T* to, const Octet& octet, int count, bool is_aligned) {
  if (is_aligned && count >= kOctet) {
    store_octet(to, octet);
    return;
  }
#pragma unroll
  for (int i = 0; i < kOctet; ++i) {
    if (i < count) to[i] = narrow<T>(octet.lane[i]);
  }
}

// Eight elements that lie `step` elements apart; those from `count` on are 0.
template <typename T>
__device__ __forceinline__ Octet gather_octet(const T* from, std::int64_t step, int count) {
  Octet octet;
#pragma unroll
  for (int i = 0; i < kOctet; ++i) octet.lane[i] = i < count ? widen(from[i * step]) : 0.0f;
  return octet;
}

// Likewise, the first `count` of them.
template <typename T>
__device__ __forceinline__ void scatter_octet(T* to, std::int64_t step, const Octet& octet,
                                              int count) {
#pragma unroll
  for (int i = 0; i < kOctet; ++i) {
    if (i < count) to[i * step] = narrow<T>(octet.lane[i]);
  }
}

}  // namespace winnow
