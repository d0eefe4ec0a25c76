// Which images are alive: bits in global memory, set from the halves that were not 0.
#pragma once

#include <cstdint>

#include "runtime/challenge/engines/grouped/kernels/group_math.cuh"

namespace winnow::challenge {

// What of a lane's images is not 0 in any row so far: halves of chunk q, then of chunk q + 4.
struct Seen {
  std::uint32_t word[2][4];
};

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

}  // namespace winnow::challenge
