// What the computing warps of multilayer_kernel do with a tile of images in shared memory. Layers
// take turns between two buffers of activations.
//
// Row r of a buffer has its images 0 to 7 at place swizzled_row(r), in multiples of 16 bytes, and 8
// to 15 at the same place with the lowest bit inverted.
#pragma once

#include <cstdint>

#include "runtime/challenge/engines/grouped/kernels/group_math.cuh"
#include "runtime/challenge/engines/grouped/kernels/multilayer_ring.cuh"
#include "runtime/device/load_matrices.cuh"

namespace winnow::challenge {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

__device__ __forceinline__ void store_matrices(std::uint32_t address, const std::uint32_t (&m)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(address),
               "r"(m[0]), "r"(m[1]), "r"(m[2]), "r"(m[3])
               : "memory");
}

// A group for 16 images: sums are in the order of mma's result, [images of 8][...].
template <int kTerms>
__device__ __forceinline__ void compute_group(const unsigned char* record, bool has_positive_bias,
                                              std::uint32_t from, std::uint32_t to) {
  const std::uint32_t lane = threadIdx.x % 32;
  const auto* weights = reinterpret_cast<const uint4*>(record);
  const auto& end = *reinterpret_cast<const RecordTail*>(record + kTerms * kRecordTermBytes);
  const std::uint32_t row = end.input[lane / 8][lane % 8];
  std::uint32_t in[2][4];  // [8 images][8 inputs]
#pragma unroll
  for (std::uint32_t h = 0; h < 2; ++h) load_matrices(from + (row ^ h) * 16, in[h]);
  const float2 bias = *reinterpret_cast<const float2*>(end.bias[lane / 4]);
  float sum[2][4];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    sum[h][0] = sum[h][1] = has_positive_bias ? 0.0f : bias.x;
    sum[h][2] = sum[h][3] = has_positive_bias ? 0.0f : bias.y;
  }
#pragma unroll
  for (int term = 0; term < kTerms; ++term) {
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
      const uint4 weight = weights[(term * kFragments + f) * 32 + lane];
#pragma unroll
      for (int h = 0; h < 2; ++h) multiply(weight, in[h][2 * f], in[h][2 * f + 1], sum[h]);
    }
  }
  std::uint32_t result[4];  // outputs 0 to 7 and 8 to 15 for 8 images, then the others
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    if (has_positive_bias) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (sum[h][i] != 0.0f) sum[h][i] += i < 2 ? bias.x : bias.y;
      }
    }
    result[2 * h] = clamped_halves(sum[h][0], sum[h][1]);
    result[2 * h + 1] = clamped_halves(sum[h][2], sum[h][3]);
  }
  store_matrices(to, result);
}

__device__ __forceinline__ void meet_computing() {
  asm volatile("bar.sync %0, %1;" ::"n"(kComputingBarrier), "n"(kComputing) : "memory");
}

// What a computing warp does for one tile: all layers. Returns the buffer of the last one.
template <int kTerms>
__device__ inline std::uint32_t compute_layers(const MultilayerLaunch& a,
                                               const unsigned char* stages, std::uint32_t buffers,
                                               std::uint32_t buffer_bytes, Barriers& barriers,
                                               Ring& ring) {
  constexpr std::uint32_t kRecord = kRecordBytes<kTerms>;
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  // stmatrix: lanes 0 to 15 name the rows of outputs 0 to 15 for images 0 to 7, the others for the
  // other images.
  const std::uint32_t to_place = (swizzled_row(lane % 16) ^ lane / 16) * 16;
  std::uint32_t from = 0;
  std::uint32_t groups = a.layers[0].groups;
  for (std::uint32_t l = 0; l < a.count; ++l) {
    const std::uint32_t next_groups = a.layers[min(l + 1, a.count - 1)].groups;
    const std::uint32_t in = buffers + from * buffer_bytes;
    const std::uint32_t out = buffers + (from ^ 1) * buffer_bytes;
    for (std::uint32_t g = warp; g < stages_of(groups) * kComputeWarps; g += kComputeWarps) {
      wait_for(barriers.full[ring.slot], ring.parity);
      if (g < groups) {
        compute_group<kTerms>(stages + (ring.slot * kComputeWarps + warp) * kRecord,
                              a.has_positive_bias, in,
                              out + g * kGroupOutputs * kTileRowBytes + to_place);
      }
      tell_empty(ring.slot);
      ring.next();
    }
    meet_computing();
    from ^= 1;
    groups = next_groups;
  }
  return from;
}

#endif

}  // namespace winnow::challenge
