// What a warp computes with tensor cores, and how its fragments meet memory.
//
// One mma.m16n8k16 multiplies 16 outputs x 16 inputs (matrix A, the weights) with 16 inputs x 8
// images (matrix B). A warp does this for the 64 images of a tile in 8 octets of 8 images. With
// lane = 4 n + q, the instruction wants from a lane, of matrix B, the inputs 2q, 2q+1, 2q+8 and
// 2q+9 of image n of the octet. Which image of the tile is image n of octet b is free. Here it is
// image 8 c(n) + b with c(n) = n / 2 + 4 (n % 2): its chunk c(n), 16 bytes of 8 neighbouring images
// of a row, gives a lane what it needs for all 8 octets. The 8 lanes of one q read a whole row of
// 128 bytes; byte permutation brings pairs of inputs together.
//
// The result of the instruction has 16 outputs x 8 images. A lane holds, for the outputs n and n +
// 8, the images 2q and 2q+1 of each octet: over all octets these are the chunks q and q + 4 of the
// output's row, so that four lanes write 64 consecutive bytes.
//
// Sums are float [8 octets][4]: of output n images 2q and 2q+1, then of output n + 8 the same.
#pragma once

#include <cstdint>

#include "runtime/challenge/engines/grouped/kernels/group_kernel.h"
#include "runtime/device/half_cast.cuh"

namespace winnow::challenge {

inline constexpr int kGroupWarps = 8;
inline constexpr int kGroupThreads = kGroupWarps * 32;
inline constexpr std::uint32_t kAllLanes = 0xffffffffu;
inline constexpr std::uint32_t kRowBytes = kGroupImages * 2;  // of one term
inline constexpr int kFragments = kStepInputs / 16;           // of a step

struct Lane {
  std::uint32_t q, n;
  __device__ std::uint32_t chunk() const { return n / 2 + n % 2 * 4; }  // that it reads
};

__device__ __forceinline__ Lane this_lane() {
  const std::uint32_t lane = threadIdx.x % 32;
  return {lane % 4, lane / 4};
}

// A lane's chunk of the rows of four inputs: 2q, 2q+1, 2q+8, 2q+9 of a fragment.
struct Inputs {
  uint4 row[4];
};

// Element i of v, from 0.
__device__ __forceinline__ std::uint32_t word_of(const uint4& v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

// c += a x b. A lane's words of matrix A, B and C.
__device__ __forceinline__ void multiply(const uint4& a, std::uint32_t b0, std::uint32_t b1,
                                         float (&c)[4]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

// What sums begin with: the same in every octet, so that it need not be copied for each.
struct SumBegin {
  float of[4];
};

// d = c + a x b.
__device__ __forceinline__ void multiply(const uint4& a, std::uint32_t b0, std::uint32_t b1,
                                         const float (&c)[4], float (&d)[4]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]), "f"(c[2]),
        "f"(c[3]));
}

// sum += weights x inputs for a fragment and one octet; with `begin`, the sum begins with
// it.
template <int kWeightTerms>
__device__ __forceinline__ void add_octet(const uint4 (&weight)[kWeightTerms], std::uint32_t b0,
                                          std::uint32_t b1, const SumBegin* begin,
                                          float (&sum)[4]) {
#pragma unroll
  for (int term = 0; term < kWeightTerms; ++term) {
    if (term == 0 && begin != nullptr) {
      multiply(weight[term], b0, b1, begin->of, sum);
    } else {
      multiply(weight[term], b0, b1, sum);
    }
  }
}

template <int kWeightTerms>
__device__ __forceinline__ void add(const uint4 (&weight)[kWeightTerms], const Inputs& in,
                                    float (&sum)[8][4], const SumBegin* begin = nullptr) {
#pragma unroll
  for (int octet = 0; octet < 8; ++octet) {
    const std::uint32_t halves = octet % 2 == 0 ? 0x5410 : 0x7632;
    const std::uint32_t b0 =
        __byte_perm(word_of(in.row[0], octet / 2), word_of(in.row[1], octet / 2), halves);
    const std::uint32_t b1 =
        __byte_perm(word_of(in.row[2], octet / 2), word_of(in.row[3], octet / 2), halves);
    add_octet(weight, b0, b1, begin, sum[octet]);
  }
}

// A lane's weights of one step.
template <int kWeightTerms>
__device__ __forceinline__ void load_weights(const GroupView& w, std::uint32_t step,
                                             uint4 (&weight)[kFragments][kWeightTerms]) {
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
#pragma unroll
    for (int term = 0; term < kWeightTerms; ++term) {
      weight[f][term] =
          __ldg(w.weight + ((std::size_t{step} * kWeightTerms + term) * kFragments + f) * 32 +
                threadIdx.x % 32);
    }
  }
}

// The biases of a lane's outputs n and n + 8 of a group.
struct Biases {
  float of[2];
};

__device__ __forceinline__ Biases biases_of(const GroupView& w, std::uint32_t group) {
  const float* bias = w.bias + group * kGroupOutputs + threadIdx.x % 32 / 4;
  return {{__ldg(bias), __ldg(bias + 8)}};
}

// The challenge adds no bias to a sum of 0. Where no bias is above 0, it may be added to every sum:
// the clamp makes 0 of it anyway.
__device__ __forceinline__ SumBegin begin_of_sums(const GroupView& w, const Biases& bias) {
  const float first = w.has_positive_bias ? 0.0f : bias.of[0];
  const float second = w.has_positive_bias ? 0.0f : bias.of[1];
  return {{first, first, second, second}};
}

// Adds the biases that begin_of_sums() left out. The sums are then to be clamped.
__device__ __forceinline__ void end_sum(const GroupView& w, const Biases& bias,
                                        float (&sum)[8][4]) {
  if (!w.has_positive_bias) return;
#pragma unroll
  for (int octet = 0; octet < 8; ++octet) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      sum[octet][i] = sum[octet][i] != 0.0f ? sum[octet][i] + bias.of[i / 2] : 0.0f;
    }
  }
}

// min(32, max(0, z)) in stored activations.
__device__ __forceinline__ float clamped(float z) {
  // As integers, positive numbers have the same order and negative ones are negative too: one
  // instruction instead of two.
  const int limit = __float_as_int(kLargestActivation * kActivationScale);
  return __int_as_float(__vimin_s32_relu(__float_as_int(z), limit));
}

__device__ __forceinline__ std::uint32_t bits_of(__half2 pair) {
  return reinterpret_cast<const std::uint32_t&>(pair);
}

// Two values as two terms each: the nearest halves, and the halves nearest to what these leave.
struct SplitPair {
  std::uint32_t high, low;
};

__device__ __forceinline__ SplitPair split_pair(float a, float b) {
  const __half2 high = __floats2half2_rn(a, b);
  const float2 back = __half22float2(high);
  return {bits_of(high), bits_of(__floats2half2_rn(a - back.x, b - back.y))};
}

// A chunk of 8 images in two terms.
struct SplitChunk {
  uint4 high, low;
};

// The clamped sums [..][i] of all octets as a chunk.
__device__ __forceinline__ SplitChunk split_chunk(const float (&sum)[8][4], int i) {
  SplitPair pair[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    pair[k] = split_pair(clamped(sum[2 * k][i]), clamped(sum[2 * k + 1][i]));
  }
  return {make_uint4(pair[0].high, pair[1].high, pair[2].high, pair[3].high),
          make_uint4(pair[0].low, pair[1].low, pair[2].low, pair[3].low)};
}

// Clamped to [0, 32] and rounded to halves: the same as the other way round.
__device__ __forceinline__ std::uint32_t clamped_halves(float a, float b) {
  std::uint32_t pair;
  asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(b), "f"(a));
  const __half2 limit = __float2half2_rn(kLargestActivation * kActivationScale);
  return bits_of(__hmin2(reinterpret_cast<const __half2&>(pair), limit));
}

// The same as split_chunk() in one term.
__device__ __forceinline__ uint4 half_chunk(const float (&sum)[8][4], int i) {
  return make_uint4(clamped_halves(sum[0][i], sum[1][i]), clamped_halves(sum[2][i], sum[3][i]),
                    clamped_halves(sum[4][i], sum[5][i]), clamped_halves(sum[6][i], sum[7][i]));
}

}  // namespace winnow::challenge
