// Rows lie in shared memory in the order of GroupView::part_row; the chunk c of 16 bytes of row r
// is at place c ^ r % 4 ^ 4 (r % 2): at staged_row(r) ^ 16 c, and the low halfs kRowBytes after it.
// A quarter of a warp reads the chunks c and c + 4 of four rows; if these are different modulo 4
// (group_parts.h sees to that), it meets all banks once. When it writes, it has the chunks 0 to 3
// or 4 to 7 of an even row and of the next one.
#pragma once

#include <cstdint>

#include "runtime/challenge/gpu/group_math.cuh"

namespace winnow::challenge {

__device__ __forceinline__ std::uint32_t staged_at(std::uint32_t row, std::uint32_t part,
                                                   std::uint32_t chunk) {
  return (staged_row(row) ^ chunk * 16) + part * kRowBytes;
}

// Part `i` of a run of parts of a tile. Tiles come in sets; `place` counts the runs of a set, those
// of the same parts of its tiles together.
struct Item {
  std::uint32_t set, place, i;
};

// A block walks over every gridDim-th run of all tiles.
class Walk {
 public:
  // Sets have 2^set_log2 tiles.
  __device__ Walk(std::uint32_t groups, std::uint32_t run_parts, std::uint32_t set_log2)
      : parts_((groups + kGroupWarps - 1) / kGroupWarps),
        run_parts_(run_parts),
        set_log2_(set_log2),
        places_((parts_ + run_parts - 1) / run_parts << set_log2),
        step_sets_(gridDim.x / places_),
        step_places_(gridDim.x % places_) {}

  __device__ Item begin() const { return {blockIdx.x / places_, blockIdx.x % places_, 0}; }
  __device__ bool is_end(const Item& item, std::uint32_t tiles) const {
    return item.set << set_log2_ >= tiles;
  }
  // May be beyond the last one in the last set.
  __device__ std::uint32_t tile(const Item& item) const {
    return (item.set << set_log2_) + (item.place & ((1u << set_log2_) - 1));
  }
  __device__ std::uint32_t part(const Item& item) const {
    return (item.place >> set_log2_) * run_parts_ + item.i;
  }
  __device__ bool is_last_of_run(const Item& item) const {
    return item.i + 1 == run_parts_ || part(item) + 1 == parts_;
  }
  __device__ Item after(const Item& item) const {
    if (!is_last_of_run(item)) return {item.set, item.place, item.i + 1};
    const std::uint32_t place = item.place + step_places_, wraps = place >= places_ ? 1 : 0;
    return {item.set + step_sets_ + wraps, wraps != 0 ? place - places_ : place, 0};
  }

 private:
  std::uint32_t parts_, run_parts_, set_log2_, places_;  // of a tile, of a run, -, of a set
  std::uint32_t step_sets_, step_places_;
};

__device__ __forceinline__ std::uint32_t pair_of(const uint2& v, int i) {
  return i == 0 ? v.x : v.y;
}

// What a warp needs of the weights for the first step of a group.
template <int kWeightParts>
struct Step {
  uint2 local[kFragments];  // where rows begin in shared memory, 16 bits each
  uint4 weight[kFragments][kWeightParts];
};

__device__ __forceinline__ void load_local(const GroupView& w, std::uint32_t step,
                                           uint2 (&local)[kFragments]) {
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
    local[f] = __ldg(w.local + (std::size_t{step} * kFragments + f) * 4 + threadIdx.x % 4);
  }
}

template <int kWeightParts>
__device__ __forceinline__ Step<kWeightParts> step_at(const GroupView& w, std::uint32_t step) {
  Step<kWeightParts> s;
  load_local(w, step, s.local);
  load_weights(w, step, s.weight);
  return s;
}

template <int kWeightParts>
__device__ __forceinline__ void add_step(const Step<kWeightParts>& step, const unsigned char* rows,
                                         float (&sum)[8][4], const SumBegin* begin = nullptr) {
  const std::uint32_t chunk = this_lane().chunk() * 16;
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
#pragma unroll
    for (int part = 0; part < kInputParts; ++part) {
      Inputs in;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::uint32_t at = (k % 2 == 0 ? pair_of(step.local[f], k / 2) & 0xffff
                                             : pair_of(step.local[f], k / 2) >> 16) ^
                                 chunk;
        in.row[k] = *reinterpret_cast<const uint4*>(rows + at + part * kRowBytes);
      }
      if (part == 0) {
        add<kWeightParts>(step.weight[f], in, sum, f == 0 ? begin : nullptr);
      } else {
        const uint4 high[1] = {step.weight[f][0]};  // low x low is beyond 22 bits
        add<1>(high, in, sum);
      }
    }
  }
}

}  // namespace winnow::challenge
