// Sums of a unit of outputs (gather_weights.h) over rows in global memory. A row is the activations
// of one input for kImages images. Neighbouring lanes read neighbouring chunks of 16 bytes of it
// (chunk.cuh), so that every read is whole sectors of 32 bytes. What is read once serves all
// outputs of the unit.
#pragma once

#include <cstdint>

#include "runtime/sparse/chunk.cuh"
#include "runtime/sparse/gather_weights.h"
#include "runtime/sparse/step_rows.cuh"

namespace winnow {

// The inputs of a step: four connections.
template <bool kNarrow>
__device__ __forceinline__ StepRows inputs_at(const GatherView& w, std::uint32_t step) {
  if constexpr (!kNarrow) {
    const uint4 in = __ldg(w.wide + step);
    return {{in.x, in.y, in.z, in.w}};
  } else {
    return step_rows(__ldg(w.narrow + step));
  }
}

// The weights of a step: [connection][output].
template <int kOutputs>
__device__ __forceinline__ void weights_at(const GatherView& w, std::uint32_t step,
                                           float (&weight)[4][kOutputs]) {
  static_assert(kOutputs == 1 || kOutputs == kQuad);
  if constexpr (kOutputs == 1) {
    const float4 of = __ldg(w.single_value + step);
    weight[0][0] = of.x;
    weight[1][0] = of.y;
    weight[2][0] = of.z;
    weight[3][0] = of.w;
  } else {
#pragma unroll
    for (std::uint32_t c = 0; c < 4; ++c) {
      const float4 of = __ldg(w.quad_value + std::size_t{step} * 4 + c);
      weight[c][0] = of.x;
      weight[c][1] = of.y;
      weight[c][2] = of.z;
      weight[c][3] = of.w;
    }
  }
}

template <bool kNarrow, int kOutputs, typename Load, typename Add>
__device__ __forceinline__ void for_each_connection_of(const GatherView& w, std::uint32_t unit,
                                                       const Load& load, const Add& add) {
  const std::uint32_t begin = __ldg(w.begin + unit), end = __ldg(w.begin + unit + 1);
  if (begin == end) return;
  StepRows next = inputs_at<kNarrow>(w, begin);
#pragma unroll(kOutputs == 1 ? 2 : 1)
  for (std::uint32_t step = begin; step < end; ++step) {
    const StepRows in = next;
    // Known before what they are for is wanted: the loads of two steps need not wait in turn.
    next = inputs_at<kNarrow>(w, min(step + 1, end - 1));
    decltype(load(0u)) value[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) value[c] = load(in.of[c]);
    float weight[4][kOutputs];
    weights_at(w, step, weight);
#pragma unroll
    for (int c = 0; c < 4; ++c) add(value[c], weight[c]);
  }
}

// Calls add(load(input), weights) for the connections of a unit, in order; `weights` are those of
// its kOutputs outputs. Several loads are on their way at a time.
template <int kOutputs, typename Load, typename Add>
__device__ __forceinline__ void for_each_connection(const GatherView& w, std::uint32_t unit,
                                                    const Load& load, const Add& add) {
  if (w.narrow != nullptr) {
    for_each_connection_of<true, kOutputs>(w, unit, load, add);
  } else {
    for_each_connection_of<false, kOutputs>(w, unit, load, add);
  }
}

// 16 bytes of activations in one load, of which the compiler would make two. They are no constants
// to this launch, which may have begun before the one that writes them has ended.
__device__ __forceinline__ uint4 load_chunk(const void* from) {
  uint4 chunk;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(chunk.x), "=r"(chunk.y), "=r"(chunk.z), "=r"(chunk.w)
               : "l"(from));
  return chunk;
}

// Adds all connections of a unit to the sums of this lane's chunk of images. `x` is where the
// lane's chunk of the row of input 0 begins; rows of kImages images follow each other.
template <int kImages, typename T, int kOutputs>
__device__ __forceinline__ void add_rows(const GatherView& w, std::uint32_t unit, const T* x,
                                         float (&sum)[kOutputs][Chunk<T>::kImages]) {
  for_each_connection<kOutputs>(
      w, unit, [&](std::uint32_t input) { return load_chunk(x + std::size_t{input} * kImages); },
      [&](const uint4& chunk, const float(&weight)[kOutputs]) {
#pragma unroll
        for (int o = 0; o < kOutputs; ++o) Chunk<T>::add(chunk, weight[o], sum[o]);
      });
}

}  // namespace winnow
