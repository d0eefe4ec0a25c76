// Which rows of global memory a group reads; and inputs that are images of bits.
#pragma once

#include <cstdint>

#include "runtime/challenge/engines/grouped/kernels/group_math.cuh"

namespace winnow::challenge {

// The rows of the inputs that a lane needs in one step: GroupView::input.
struct StepRows {
  uint4 of[kFragments];
};

__device__ __forceinline__ StepRows rows_of(const GroupView& w, std::uint32_t step) {
  StepRows rows;
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
    rows.of[f] = __ldg(w.input + (std::size_t{step} * kFragments + f) * 4 + threadIdx.x % 4);
  }
  return rows;
}

__device__ __forceinline__ std::uint32_t first_step(const GroupView& w, std::uint32_t group) {
  return w.steps != 0 ? group * w.steps : __ldg(w.step_begin + group);
}

// A lane's inputs of a fragment where images are bits: a byte, 8 images, for each of four rows.
struct BitInputs {
  std::uint32_t row[4];
};

// Reads the inputs of one step from `tile`, [row][64 bits].
__device__ __forceinline__ void load_bits(const StepRows& rows, const unsigned char* tile,
                                          BitInputs (&in)[kFragments]) {
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      in[f].row[k] = __ldg(tile + std::size_t{word_of(rows.of[f], k)} * 8 + this_lane().chunk());
    }
  }
}

// sum += weights x inputs for a fragment and all octets. A set bit becomes the half 2
// (kBitValue), whose only bit that is set is the highest of the exponent.
template <int kWeightTerms>
__device__ __forceinline__ void add(const uint4 (&weight)[kWeightTerms], const BitInputs& in,
                                    float (&sum)[8][4], const SumBegin* begin = nullptr) {
  constexpr std::uint32_t kTwos = 0x40004000;
  const std::uint32_t pair0 = in.row[0] | in.row[1] << 16, pair1 = in.row[2] | in.row[3] << 16;
#pragma unroll
  for (int octet = 0; octet < 8; ++octet) {
    const std::uint32_t b0 = pair0 << (14 - octet) & kTwos, b1 = pair1 << (14 - octet) & kTwos;
    add_octet(weight, b0, b1, begin, sum[octet]);
  }
}

}  // namespace winnow::challenge
