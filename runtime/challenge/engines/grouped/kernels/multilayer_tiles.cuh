// Tiles of images between global memory and the buffers of multilayer_layers.cuh.
#pragma once

#include <cstdint>

#include "runtime/challenge/engines/grouped/kernels/alive_bits.cuh"
#include "runtime/challenge/engines/grouped/kernels/group_math.cuh"
#include "runtime/challenge/engines/grouped/kernels/multilayer_ring.cuh"

namespace winnow::challenge {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// Images of the tile from global memory, or zeros beyond the last.
__device__ inline void load_tile(const MultilayerLaunch& a, std::uint32_t tile,
                                 std::uint32_t images, unsigned char* buffer) {
  const std::uint32_t i = threadIdx.x % kTileImages, place = tile * kTileImages + i;
  const bool is_there = place < images;
  const std::uint32_t number = is_there ? a.number[place] : 0;
  const auto* from = static_cast<const std::uint16_t*>(a.in) +
                     std::size_t{number / kGroupImages} * a.rows * kGroupImages +
                     number % kGroupImages;
  constexpr std::uint32_t kRowsAtOnce = kComputing / kTileImages, kBatch = 16;
  for (std::uint32_t first = threadIdx.x / kTileImages; first < a.in_rows;
       first += kBatch * kRowsAtOnce) {
    std::uint16_t value[kBatch];  // all on their way before the first is needed
#pragma unroll
    for (std::uint32_t k = 0; k < kBatch; ++k) {
      const std::uint32_t r = first + k * kRowsAtOnce;
      value[k] = is_there && r < a.in_rows ? __ldg(from + std::size_t{r} * kGroupImages) : 0;
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kBatch; ++k) {
      const std::uint32_t r = first + k * kRowsAtOnce;
      if (r >= a.in_rows) break;
      *reinterpret_cast<std::uint16_t*>(buffer + (swizzled_row(r) ^ i / 8) * 16 + i % 8 * 2) =
          value[k];
    }
  }
}

// Rows to global memory; `seen`, 0 before, gets what is not 0 of each image.
__device__ inline void store_tile(const MultilayerLaunch& a, std::uint32_t tile,
                                  const unsigned char* buffer, std::uint32_t (&seen)[8]) {
  const std::uint32_t h = threadIdx.x % 2, place = tile * kTileImages;
  const std::uint32_t rows = a.layers[a.count - 1].groups * kGroupOutputs;
  auto* to =
      static_cast<unsigned char*>(a.out) +
      (std::size_t{place / kGroupImages} * a.rows * kGroupImages + place % kGroupImages) * 2 +
      h * 16;
  uint4 all{};
  for (std::uint32_t r = threadIdx.x / 2; r < rows; r += kComputing / 2) {
    const uint4 v = *reinterpret_cast<const uint4*>(buffer + (swizzled_row(r) ^ h) * 16);
    *reinterpret_cast<uint4*>(to + std::size_t{r} * kRowBytes) = v;
    all = make_uint4(all.x | v.x, all.y | v.y, all.z | v.z, all.w | v.w);
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    std::uint32_t word = word_of(all, k);
#pragma unroll
    for (int distance = 2; distance < 32; distance *= 2) {
      word |= __shfl_xor_sync(kAllLanes, word, distance);
    }
    if (threadIdx.x % 32 < 2 && word != 0) atomicOr(&seen[4 * h + k], word);
  }
}

__device__ inline void tell_tile_alive(const MultilayerLaunch& a, std::uint32_t tile,
                                       std::uint32_t images, const std::uint32_t (&seen)[8]) {
  std::uint32_t bits = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) bits |= has_bits(seen[k]) << 2 * k;
  const std::uint32_t place = tile * kTileImages;
  const std::uint32_t there = images > place ? images - place : 0;
  if (there < kTileImages) bits &= (1u << there) - 1;
  or_into(a.alive + place / 32, bits << place % 32);
}

#endif

}  // namespace winnow::challenge
