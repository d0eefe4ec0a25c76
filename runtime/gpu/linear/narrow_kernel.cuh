// The kernel of narrow linear layers (narrow_linear.h); narrow_index.h says what lies where.
//
// A thread block takes groups of 8 images. Its warps share the inputs: warp w of W has the chunks
// w, w + W, w + 2 W and so on, and multiplies them with all outputs. Then the warps' sums are added
// up through shared memory.
#pragma once

#include <cstdint>

#include "runtime/device/overlap.cuh"
#include "runtime/gpu/gathered/fragments.cuh"
#include "runtime/gpu/linear/narrow_readers.cuh"

namespace winnow {

// The weights of some of a warp's chunks in registers.
template <int kTiles>
struct HeldWeights {
  static constexpr std::uint32_t kChunks = kTiles > 2 ? 2 : 4;
  uint4 of[kChunks][2][kTiles];

  // Chunk `first` and those that follow it `apart` chunks apart.
  __device__ __forceinline__ void fetch(const NarrowArguments& a, std::uint32_t first,
                                        std::uint32_t apart) {
#pragma unroll
    for (std::uint32_t i = 0; i < kChunks; ++i) {
      const std::uint32_t chunk = first + i * apart;
      if (chunk >= a.chunks.all) break;
      const uint4* from = a.weights + std::size_t{chunk} * 2 * kTiles * 32 + lane_of_thread();
#pragma unroll
      for (int j = 0; j < 2 * kTiles; ++j) of[i][j / kTiles][j % kTiles] = __ldg(from + j * 32);
    }
  }
};

// Adds the products of chunk `first` and those that follow it to the sums of [16 outputs][8 images]
// by tile. `held`: the first chunk of the weights.
template <int kTiles, typename Reader>
__device__ __forceinline__ void add_chunks(const NarrowArguments& a, std::uint32_t group,
                                           std::uint32_t first, std::uint32_t apart,
                                           HeldWeights<kTiles>& weights, std::uint32_t& held,
                                           float (&sum)[kTiles][4]) {
  constexpr std::uint32_t kChunks = HeldWeights<kTiles>::kChunks;
  ChunkInputs inputs[kChunks];
#pragma unroll
  for (std::uint32_t i = 0; i < kChunks; ++i) inputs[i] = Reader::read(a, group, first + i * apart);
  if (first != held) weights.fetch(a, first, apart);
  held = first;
#pragma unroll
  for (std::uint32_t i = 0; i < kChunks; ++i) {
    if (first + i * apart >= a.chunks.all) break;
    Reader::turn(a, first + i * apart, inputs[i]);
  }
#pragma unroll
  for (std::uint32_t i = 0; i < kChunks; ++i) {
    if (first + i * apart >= a.chunks.all) break;
#pragma unroll
    for (int step = 0; step < 2; ++step) {
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        multiply(sum[tile], weights.of[i][step][tile], inputs[i].word[2 * step],
                 inputs[i].word[2 * step + 1]);
      }
    }
  }
}

// Lane l has of a product outputs l / 4 and 8 further, images 2 (l % 4) and the next one.
template <int kTiles>
__device__ __forceinline__ void store_sums(const float (&sum)[kTiles][4], float* to) {
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    float2* at = reinterpret_cast<float2*>(to + tile * kNarrowSums) + lane_of_thread();
    at[0] = {sum[tile][0], sum[tile][1]};
    at[kNarrowSums / 4] = {sum[tile][2], sum[tile][3]};
  }
}

template <int kTiles, typename Reader>
__global__ void __launch_bounds__(kMostNarrowWarps * 32, 1)
    narrow_linear_kernel(const NarrowArguments a) {
  constexpr std::uint32_t kSums = kTiles * kNarrowSums;  // [tiles * 16 outputs][8 images]
  __shared__ alignas(16) float warp_sum[kMostNarrowWarps][kSums];
  __shared__ float bias[kTiles * kNarrowTile];
  begin_next_launch();
  const std::uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32;
  HeldWeights<kTiles> weights;
  weights.fetch(a, warp, warps);
  std::uint32_t held = warp;
  for (std::uint32_t i = threadIdx.x; i < kTiles * kNarrowTile; i += blockDim.x) {
    bias[i] = __ldg(a.bias + i);
  }
  wait_for_launch_before();
  for (std::uint32_t group = blockIdx.x; group < a.groups; group += gridDim.x) {
    float sum[kTiles][4] = {};
    const std::uint32_t pass = warps * HeldWeights<kTiles>::kChunks;
    for (std::uint32_t first = warp; first < a.chunks.all; first += pass) {
      add_chunks<kTiles, Reader>(a, group, first, warps, weights, held, sum);
    }
    store_sums(sum, warp_sum[warp]);
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < kSums; i += blockDim.x) {
      const std::uint32_t output = i / kNarrowImages;
      const std::uint32_t image = group * kNarrowImages + i % kNarrowImages;
      if (output >= a.y.features || image >= a.images) continue;
      float all = 0;
      for (std::uint32_t w = 0; w < warps; ++w) all += warp_sum[w][i];
      a.y.set(std::size_t{image} * a.y.features + output, a.epilogue(all, bias[output]));
    }
    __syncthreads();  // before sums of the next group take their place
  }
}

}  // namespace winnow
