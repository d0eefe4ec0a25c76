// The rows that a panel reads, in shared memory, in the order of GroupView::panel_row.
//
// Chunk c, 16 bytes, of the high term of row r begins at byte shared_row(r) ^ 16 c: its place in
// the row is c ^ r % 4 ^ 4 (r % 2). The low term follows kRowBytes later. A quarter of a warp reads
// the chunks c and c + 4 of four rows at a time; if the four row numbers differ modulo 4, which
// group_panels.h sees to, it meets all banks once. When it writes, it has the chunks 0 to 3 or 4 to
// 7 of an even row and of the next one, which meet all banks once too.
#pragma once

#include <cstdint>

#include "runtime/challenge/engines/grouped/kernels/group_inputs.cuh"
#include "runtime/challenge/engines/grouped/kernels/group_math.cuh"
#include "runtime/challenge/engines/grouped/kernels/tile_scheduler.h"

namespace winnow::challenge {

static_assert(kGroupWarps == kPanelGroups, "a warp computes a group of a panel");

__device__ __forceinline__ std::uint32_t shared_chunk(std::uint32_t row, std::uint32_t term,
                                                      std::uint32_t chunk) {
  return (shared_row(row) ^ chunk * 16) + term * kRowBytes;
}

__device__ __forceinline__ std::uint32_t pair_of(const uint2& v, int i) {
  return i == 0 ? v.x : v.y;
}

// What a warp needs of the weights for the first step of a group.
template <int kWeightTerms>
struct Step {
  uint2 local[kFragments];  // where rows begin in shared memory, 16 bits each
  uint4 weight[kFragments][kWeightTerms];
};

__device__ __forceinline__ void load_local(const GroupView& w, std::uint32_t step,
                                           uint2 (&local)[kFragments]) {
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
    local[f] = __ldg(w.local + (std::size_t{step} * kFragments + f) * 4 + threadIdx.x % 4);
  }
}

template <int kWeightTerms>
__device__ __forceinline__ Step<kWeightTerms> step_at(const GroupView& w, std::uint32_t step) {
  Step<kWeightTerms> s;
  load_local(w, step, s.local);
  load_weights(w, step, s.weight);
  return s;
}

template <int kWeightTerms>
__device__ __forceinline__ void add_step(const Step<kWeightTerms>& step, const unsigned char* rows,
                                         float (&sum)[8][4], const SumBegin* begin = nullptr) {
  const std::uint32_t chunk = this_lane().chunk() * 16;
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
#pragma unroll
    for (int term = 0; term < kInputTerms; ++term) {
      Inputs in;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::uint32_t at = (k % 2 == 0 ? pair_of(step.local[f], k / 2) & 0xffff
                                             : pair_of(step.local[f], k / 2) >> 16) ^
                                 chunk;
        in.row[k] = *reinterpret_cast<const uint4*>(rows + at + term * kRowBytes);
      }
      if (term == 0) {
        add<kWeightTerms>(step.weight[f], in, sum, f == 0 ? begin : nullptr);
      } else {
        const uint4 high[1] = {step.weight[f][0]};  // low x low is beyond 22 bits
        add<1>(high, in, sum);
      }
    }
  }
}

// The steps of a group after the first, where there are any.
template <int kWeightTerms>
__device__ __forceinline__ void add_further_steps(const GroupView& w, std::uint32_t group,
                                                  const unsigned char* rows, float (&sum)[8][4]) {
  if (w.steps == 1) return;
  const std::uint32_t end = __ldg(w.step_begin + group + 1);
  for (std::uint32_t s = first_step(w, group) + 1; s < end; ++s) {
    add_step<kWeightTerms>(step_at<kWeightTerms>(w, s), rows, sum);
  }
}

}  // namespace winnow::challenge
