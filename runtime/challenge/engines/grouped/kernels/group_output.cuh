// What becomes of a group's sums: activations, in place or at the places of the images that are
// kept (ImageMoves); and which images are alive.
#pragma once

#include <cstdint>

#include "runtime/challenge/engines/grouped/kernels/alive_bits.cuh"
#include "runtime/challenge/engines/grouped/kernels/group_kernel.h"
#include "runtime/challenge/engines/grouped/kernels/group_math.cuh"
#include "runtime/challenge/engines/grouped/kernels/image_moves.cuh"

namespace winnow::challenge {

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
