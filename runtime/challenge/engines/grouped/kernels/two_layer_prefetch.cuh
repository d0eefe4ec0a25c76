// What a warp of two_layer_kernel copies to shared memory for its next groups.
#pragma once

#include <cstdint>

#include "runtime/challenge/engines/grouped/kernels/group_inputs.cuh"
#include "runtime/challenge/engines/grouped/kernels/group_math.cuh"
#include "runtime/device/async_copy.cuh"

namespace winnow::challenge {

// A lane's weights of one step; every lane reads what it has copied.
template <int kWeightTerms>
struct PrefetchedWeights {
  uint4 of[kFragments * kWeightTerms][32];  // [term][fragment]

  __device__ void copy(const GroupView& w, std::uint32_t step) {
#pragma unroll
    for (int i = 0; i < kFragments * kWeightTerms; ++i) {
      const std::size_t at = (std::size_t{step} * kFragments * kWeightTerms + i) * 32;
      copy_to_shared(&of[i][threadIdx.x % 32], w.weight + at + threadIdx.x % 32);
    }
  }
  __device__ void read(int fragment, uint4 (&weight)[kWeightTerms]) const {
#pragma unroll
    for (int term = 0; term < kWeightTerms; ++term) {
      weight[term] = of[term * kFragments + fragment][threadIdx.x % 32];
    }
  }
};

// What a warp needs of its next groups, in shared memory, where it takes no registers while it is
// on its way.
template <int kWeightTerms>
struct Prefetched {
  PrefetchedWeights<kWeightTerms> first, second;
  uint4 row[kFragments * 4];       // of the inputs of the first layer's group, as GroupView::input
  uint2 bits[kFragments * 4 * 4];  // of those rows
  float4 bias[kGroupOutputs / 4];  // of the first layer's group

  __device__ void copy_rows(const GroupView& w, std::uint32_t group) {
    const std::uint32_t lane = threadIdx.x % 32;
    if (lane >= kFragments * 4) return;
    copy_to_shared(row + lane, w.input + std::size_t{first_step(w, group)} * kFragments * 4 + lane);
  }
  __device__ void copy_bias(const GroupView& w, std::uint32_t group) {
    const std::uint32_t lane = threadIdx.x % 32;
    if (lane >= kGroupOutputs / 4) return;
    copy_to_shared(bias + lane, w.bias + group * kGroupOutputs + lane * 4);
  }
  __device__ Biases read_bias() const {
    const auto* value = reinterpret_cast<const float*>(bias);
    return {{value[this_lane().n], value[this_lane().n + 8]}};
  }
  // The rows are there.
  __device__ void copy_bits(const unsigned char* tile) {
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t number = reinterpret_cast<const std::uint32_t*>(row)[lane];
    copy_8_to_shared(bits + lane, tile + std::size_t{number} * sizeof(uint2));
  }
  __device__ void read_bits(BitInputs (&in)[kFragments]) const {
    const Lane lane = this_lane();
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        in[f].row[k] =
            reinterpret_cast<const unsigned char*>(bits + 16 * f + 4 * lane.q + k)[lane.chunk()];
      }
    }
  }
};
static_assert(kFragments * 4 * 4 == 32, "a lane copies the bits of a row");

}  // namespace winnow::challenge
