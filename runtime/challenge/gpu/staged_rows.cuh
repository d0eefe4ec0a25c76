// Rows lie in shared memory in the order of GroupView::part_row; the chunk c of 16 bytes of row r
// is at place c ^ r % 8. A quarter of a warp reads the chunks c and c + 4 of four rows; if these
// are different modulo 4 (group_parts.h sees to that), it meets all banks once.
#pragma once

#include <cstdint>

#include "runtime/challenge/gpu/group_math.cuh"

namespace winnow::challenge {

inline constexpr int kInputParts = 2;

__device__ __forceinline__ std::uint32_t staged_at(std::uint32_t row, std::uint32_t part,
                                                   std::uint32_t chunk) {
  return (row * kInputParts + part) * kRowBytes + ((chunk ^ row) % 8) * 16;
}

// One tile and part; a block walks over runs of parts (group_kernel.cu).
struct Item {
  std::uint32_t work, part, last_part;
};

struct Walk {
  std::uint32_t parts, run, runs;

  __device__ Item at(std::uint32_t work) const {
    const std::uint32_t first = work % runs * run;
    return {work, first, min(first + run, parts)};
  }
  __device__ Item after(const Item& item) const {
    if (item.part + 1 < item.last_part) return {item.work, item.part + 1, item.last_part};
    return at(item.work + gridDim.x);
  }
};

// What a warp needs of the weights for the first step of a group.
template <int kWeightParts>
struct Step {
  std::uint32_t local[kFragments];  // rows in shared memory, a byte each
  uint4 weight[kFragments][kWeightParts];
};

template <int kWeightParts>
__device__ __forceinline__ Step<kWeightParts> step_at(const GroupView& w, std::uint32_t step) {
  Step<kWeightParts> s;
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
    s.local[f] = __ldg(w.local + (std::size_t{step} * kFragments + f) * 4 + threadIdx.x % 4);
  }
  load_weights(w, step, s.weight);
  return s;
}

template <int kWeightParts>
__device__ __forceinline__ void add_step(const Step<kWeightParts>& step, const unsigned char* rows,
                                         float (&sum)[8][4]) {
  const std::uint32_t chunk = this_lane().chunk();
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
#pragma unroll
    for (int part = 0; part < kInputParts; ++part) {
      Inputs in;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::uint32_t row = step.local[f] >> (8 * k) & 0xff;
        in.row[k] = *reinterpret_cast<const uint4*>(rows + staged_at(row, part, chunk));
      }
      if (part == 0) {
        add<kWeightParts>(step.weight[f], in, sum);
      } else {
        const uint4 high[1] = {step.weight[f][0]};  // low x low is beyond 22 bits
        add<1>(high, in, sum);
      }
    }
  }
}

}  // namespace winnow::challenge
