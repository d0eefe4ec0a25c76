// What becomes of a group's sums: activations, in place or at the places of the images that are
// kept (ImageMoves); and which images are alive.
#pragma once

#include <cstdint>

#include "runtime/challenge/engines/grouped/kernels/group_kernel.h"
#include "runtime/challenge/engines/grouped/kernels/group_math.cuh"

namespace winnow::challenge {

// Floats from one row of a scratch to the next: 4 more than a row has, so that rows meet other
// banks.
inline constexpr std::uint32_t kScratchRow = kGroupImages + 4;

// What of a lane's images is not 0 in any row so far: halves of chunk q, then of chunk q + 4.
struct Seen {
  std::uint32_t word[2][4];
};

// Clamps the sums and writes the lane's chunks to `to`, [16 rows][kTerms][64].
template <int kTerms>
__device__ __forceinline__ void store_chunks(const float (&sum)[8][4], unsigned char* to,
                                             Seen& seen) {
  const Lane lane = this_lane();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const SplitChunk values =
        kTerms == 2 ? split_chunk(sum, i) : SplitChunk{half_chunk(sum, i), uint4{}};
#pragma unroll
    for (int k = 0; k < 4; ++k) seen.word[i % 2][k] |= word_of(values.high, k);
    unsigned char* row = to + (lane.n + i / 2 * 8) * kTerms * kRowBytes + (lane.q + i % 2 * 4) * 16;
    *reinterpret_cast<uint4*>(row) = values.high;
    if constexpr (kTerms == 2) *reinterpret_cast<uint4*>(row + kRowBytes) = values.low;
  }
}

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

__device__ __forceinline__ std::uint32_t has_bits(std::uint32_t halves) {
  return ((halves & 0xffff) != 0 ? 1u : 0u) | (halves >> 16 != 0 ? 2u : 0u);
}

__device__ __forceinline__ void or_into(std::uint32_t* word, std::uint32_t bits) {
  if (bits != 0) atomicOr(word, bits);  // without a result: nobody waits for it
}

// Sets the bits of the live images of a tile, once for all groups that the warp has computed.
__device__ __forceinline__ void tell_alive(std::uint32_t* alive, std::uint32_t tile,
                                           std::uint32_t images, const Seen& seen) {
  std::uint32_t bits[2] = {};
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int k = 0; k < 4; ++k) bits[i] |= has_bits(seen.word[i][k]) << (2 * k);
    bits[i] = __reduce_or_sync(kAllLanes, bits[i] << threadIdx.x % 4 * 8);
  }
  const std::uint32_t there = images - tile * kGroupImages;
  if (there < kGroupImages) {
    bits[0] &= there < 32 ? (1u << there) - 1 : kAllLanes;
    bits[1] &= there > 32 ? (1u << (there - 32)) - 1 : 0;
  }
  const std::uint32_t lane = threadIdx.x % 32;
  if (lane < 2) or_into(alive + 2 * tile + lane, lane == 0 ? bits[0] : bits[1]);
}

// The same for images that moved; their places are in up to three words.
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

// A warp's way to write tiles. `kMoves`: images are dropped on the way.
template <bool kSplitOut, bool kMoves>
class GroupOutput {
 public:
  static constexpr int kTerms = kSplitOut ? 2 : 1;

  // Shared memory of a warp.
  struct Scratch {
    __align__(16) float rows[kMoves ? kGroupOutputs * kScratchRow : 4];
    unsigned char order[kMoves ? kGroupImages : 4];
  };

  // Fetches what begin_tile() needs to know of the tile, some time before.
  __device__ void prefetch_tile(const GroupLaunch& launch, std::uint32_t tile) {
    if constexpr (kMoves) kept_ = kept_of(launch, tile);
  }

  // The tile that prefetch_tile() was told. One warp of all that work on it moves the ids.
  __device__ void begin_tile(const GroupLaunch& launch, Scratch& scratch, std::uint32_t tile,
                             bool moves_ids) {
    tile_ = tile;
    seen_ = {};
    moved_seen_ = 0;
    if constexpr (kMoves) {
      places_ = places_of(launch, kept_, scratch.order);
      if (moves_ids) move_ids(launch, tile, places_);
    }
  }

  __device__ void write(const GroupLaunch& launch, Scratch& scratch, std::uint32_t group,
                        const float (&sum)[8][4]) {
    if constexpr (kMoves) {
      chunks_to_shared(sum, scratch.rows);
      __syncwarp();
      moved_seen_ |= move_rows<kTerms>(launch, group, places_, scratch.rows);
      __syncwarp();
    } else {
      const std::size_t row = std::size_t{tile_} * launch.rows + std::size_t{group} * kGroupOutputs;
      store_chunks<kTerms>(sum, static_cast<unsigned char*>(launch.out) + row * kTerms * kRowBytes,
                           seen_);
    }
  }

  __device__ void end_tile(const GroupLaunch& launch, std::uint32_t images) const {
    if (launch.alive == nullptr) return;
    if constexpr (kMoves) {
      tell_moved_alive(launch.alive, places_, moved_seen_);
    } else {
      tell_alive(launch.alive, tile_, images, seen_);
    }
  }

 private:
  std::uint32_t tile_ = 0;
  Seen seen_{};
  std::uint32_t moved_seen_ = 0;
  Kept kept_{};
  Places places_{};
};

}  // namespace winnow::challenge
