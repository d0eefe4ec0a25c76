// How the kept images of a tile come to their places (ImageMoves).
#pragma once

#include <cstdint>

#include "runtime/challenge/engines/grouped/kernels/alive_bits.cuh"
#include "runtime/challenge/engines/grouped/kernels/group_kernel.h"
#include "runtime/challenge/engines/grouped/kernels/group_math.cuh"

namespace winnow::challenge {

// Floats from one row of a scratch to the next: 4 more than a row has, so that rows meet other
// banks.
inline constexpr std::uint32_t kScratchRow = kGroupImages + 4;

// Clamps the sums and writes them to shared memory, [16 rows][kScratchRow].
__device__ __forceinline__ void chunks_to_shared(const float (&sum)[8][4], float* scratch) {
  const Lane lane = this_lane();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float* row = scratch + (lane.n + i / 2 * 8) * kScratchRow + (lane.q + i % 2 * 4) * 8;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      *reinterpret_cast<float4*>(row + k * 4) =
          make_float4(clamped(sum[4 * k][i]), clamped(sum[4 * k + 1][i]),
                      clamped(sum[4 * k + 2][i]), clamped(sum[4 * k + 3][i]));
    }
  }
}

// Where the kept images of a tile go. A lane takes two neighbouring places.
struct Places {
  std::uint32_t first;      // place
  std::uint32_t taken;      // places, those for images of zeros included
  std::uint32_t source[2];  // images of the tile that come to the lane's places, kNone for zeros
};
inline constexpr std::uint32_t kNone = ~0u;

// Which images of a tile are kept, and the place of the first.
struct Kept {
  std::uint32_t low, high, first;
};

__device__ __forceinline__ Kept kept_of(const GroupLaunch& a, std::uint32_t tile) {
  return {__ldg(a.moves.keep + 2 * tile), __ldg(a.moves.keep + 2 * tile + 1),
          __ldg(a.moves.first + tile)};
}

__device__ __forceinline__ Places places_of(const GroupLaunch& a, const Kept& kept,
                                            unsigned char* order) {
  const std::uint32_t multiple = a.moves.multiple;
  const std::uint32_t low = kept.low, high = kept.high;
  const std::uint32_t lane = threadIdx.x % 32, below = (1u << lane) - 1;
  const std::uint32_t lows = __popc(low), count = lows + __popc(high);
  __syncwarp();
  if ((low >> lane & 1) != 0) order[__popc(low & below)] = static_cast<unsigned char>(lane);
  if ((high >> lane & 1) != 0) {
    order[lows + __popc(high & below)] = static_cast<unsigned char>(lane + 32);
  }
  __syncwarp();
  return {kept.first,
          (count + multiple - 1) / multiple * multiple,
          {2 * lane < count ? order[2 * lane] : kNone,
           2 * lane + 1 < count ? order[2 * lane + 1] : kNone}};
}

__device__ __forceinline__ void move_ids(const GroupLaunch& a, std::uint32_t tile,
                                         const Places& places) {
#pragma unroll
  for (std::uint32_t i = 0; i < 2; ++i) {
    if (places.source[i] == kNone) continue;
    const std::uint32_t number = tile * kGroupImages + places.source[i];
    a.moves.out_id[places.first + threadIdx.x % 32 * 2 + i] =
        a.moves.in_id == nullptr ? number : __ldg(a.moves.in_id + number);
  }
}

// Moves the kept images from the scratch rows to their places. Returns what was not 0: two halves.
template <int kTerms>
__device__ __forceinline__ std::uint32_t move_rows(const GroupLaunch& a, std::uint32_t group,
                                                   const Places& places, const float* scratch) {
  const std::uint32_t lane = threadIdx.x % 32, place = places.first + 2 * lane;
  if (2 * lane >= places.taken) return 0;
  const bool has[2] = {places.source[0] != kNone, places.source[1] != kNone};
  const std::size_t row =
      std::size_t{place / kGroupImages} * a.rows + std::size_t{group} * kGroupOutputs;
  std::uint32_t* to =
      static_cast<std::uint32_t*>(a.out) + (row * kTerms * kGroupImages + place % kGroupImages) / 2;
  std::uint32_t seen = 0;
#pragma unroll
  for (std::uint32_t r = 0; r < kGroupOutputs; ++r, to += kTerms * kGroupImages / 2) {
    const float x = has[0] ? scratch[r * kScratchRow + places.source[0]] : 0.0f;
    const float y = has[1] ? scratch[r * kScratchRow + places.source[1]] : 0.0f;
    const SplitPair pair =
        kTerms == 2 ? split_pair(x, y) : SplitPair{bits_of(__floats2half2_rn(x, y)), 0};
    seen |= pair.high;
    to[0] = pair.high;
    if constexpr (kTerms == 2) to[kGroupImages / 2] = pair.low;
  }
  return seen;
}

// As tell_alive() for images that moved; their places are in up to three words.
__device__ __forceinline__ void tell_moved_alive(std::uint32_t* alive, const Places& places,
                                                 std::uint32_t seen) {
  const std::uint32_t lane = threadIdx.x % 32, place = places.first + 2 * lane;
  const std::uint32_t word = places.first / 32, bits = has_bits(seen) << place % 32;
  std::uint32_t of_word = 0;  // lane i: of word i
#pragma unroll
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::uint32_t all = __reduce_or_sync(kAllLanes, place / 32 == word + i ? bits : 0);
    if (lane == i) of_word = all;
  }
  if (of_word != 0) or_into(alive + word + lane, of_word);
}

}  // namespace winnow::challenge
