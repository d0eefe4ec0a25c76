// The sums of two_layer_kernel: groups of the first layer from bits into rows of shared memory, and
// groups of the second layer from these rows.
#pragma once

#include <cstdint>

#include "runtime/challenge/engines/grouped/kernels/group_inputs.cuh"
#include "runtime/challenge/engines/grouped/kernels/group_math.cuh"
#include "runtime/challenge/engines/grouped/kernels/shared_rows.cuh"
#include "runtime/challenge/engines/grouped/kernels/two_layer_prefetch.cuh"

namespace winnow::challenge {

// Activations to shared memory, rows from `first_row` on.
__device__ __forceinline__ void store_group_to_shared(const float (&sum)[8][4],
                                                      std::uint32_t first_row,
                                                      unsigned char* to_rows) {
  const Lane lane = this_lane();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const SplitChunk values = split_chunk(sum, i);
    const std::uint32_t row = first_row + lane.n + i / 2 * 8, chunk = lane.q + i % 2 * 4;
    *reinterpret_cast<uint4*>(to_rows + shared_chunk(row, 0, chunk)) = values.high;
    *reinterpret_cast<uint4*>(to_rows + shared_chunk(row, 1, chunk)) = values.low;
  }
}

template <int kWeightTerms>
__device__ __forceinline__ void add_bits(const GroupView& w, std::uint32_t step,
                                         const unsigned char* tile, const SumBegin* begin,
                                         float (&sum)[8][4]) {
  BitInputs in[kFragments];
  load_bits(rows_of(w, step), tile, in);
  uint4 weight[kFragments][kWeightTerms];
  load_weights(w, step, weight);
#pragma unroll
  for (int f = 0; f < kFragments; ++f) add(weight[f], in[f], sum, f == 0 ? begin : nullptr);
}

// A group of the first layer, `entry` in GroupView::panel_group. `prefetched`: its first step,
// which is there; null: still in global memory.
template <int kWeightTerms>
__device__ __forceinline__ void compute_first(const GroupView& w, std::uint32_t entry,
                                              const Prefetched<kWeightTerms>* prefetched,
                                              const unsigned char* tile, unsigned char* to_rows) {
  const std::uint32_t group = group_of_entry(entry), number = number_of_entry(entry);
  const Biases bias = prefetched != nullptr ? prefetched->read_bias() : biases_of(w, group);
  const SumBegin begin = begin_of_sums(w, bias);
  float sum[8][4];
  std::uint32_t step = first_step(w, group);
  if (prefetched != nullptr) {
    BitInputs in[kFragments];
    prefetched->read_bits(in);
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
      uint4 weight[kWeightTerms];
      prefetched->first.read(f, weight);
      add(weight, in[f], sum, f == 0 ? &begin : nullptr);
    }
  } else {
    add_bits<kWeightTerms>(w, step, tile, &begin, sum);
  }
  if (w.steps != 1) {
    const std::uint32_t end = __ldg(w.step_begin + group + 1);
    for (++step; step < end; ++step) add_bits<kWeightTerms>(w, step, tile, nullptr, sum);
  }
  end_sum(w, bias, sum);
  store_group_to_shared(sum, number * kGroupOutputs, to_rows);
}

// Copies the carried group as it lies in the panel before: a row's number modulo 8 stays the same.
__device__ __forceinline__ void take_over(const PanelReads& reads, const unsigned char* before,
                                          unsigned char* to_rows) {
  constexpr std::uint32_t kGroupBytes = kGroupOutputs * kInputTerms * kRowBytes;
  static_assert(kGroupBytes == kGroupThreads * sizeof(uint4));
  const auto* from = reinterpret_cast<const uint4*>(before + reads.there() * kGroupBytes);
  auto* to = reinterpret_cast<uint4*>(to_rows + reads.here() * kGroupBytes);
  to[threadIdx.x] = from[threadIdx.x];
}

// The warp's group of the second layer; `local`: the inputs of its first step, as GroupView's.
template <int kWeightTerms>
__device__ __forceinline__ void sum_second(const GroupView& w, std::uint32_t group,
                                           const Biases& bias, const uint2 (&local)[kFragments],
                                           const PrefetchedWeights<kWeightTerms>& weights,
                                           const unsigned char* rows, float (&sum)[8][4]) {
  const SumBegin begin = begin_of_sums(w, bias);
  Step<kWeightTerms> step;
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
    step.local[f] = local[f];
    weights.read(f, step.weight[f]);
  }
  add_step<kWeightTerms>(step, rows, sum, &begin);
  add_further_steps<kWeightTerms>(w, group, rows, sum);
  end_sum(w, bias, sum);
}

}  // namespace winnow::challenge
