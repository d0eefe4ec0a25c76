// Sums of one output over rows in global memory. A row is the activations of one input for kImages
// images. Neighbouring lanes read neighbouring chunks of 16 bytes of it (chunk.cuh), so that every
// read is whole sectors of 32 bytes.
#pragma once

#include <cstdint>

#include "runtime/sparse/chunk.cuh"
#include "runtime/sparse/gather_weights.h"
#include "runtime/sparse/step_rows.cuh"

namespace winnow {

// The inputs of a step (GatherView): four connections.
template <bool kNarrow>
__device__ __forceinline__ StepRows inputs_at(const GatherView& w, std::uint32_t step) {
  if constexpr (!kNarrow) {
    const uint4 in = __ldg(w.wide + step);
    return {{in.x, in.y, in.z, in.w}};
  } else {
    return step_rows(__ldg(w.narrow + step));
  }
}

template <bool kNarrow, typename Add>
__device__ __forceinline__ void for_each_connection_of(const GatherView& w, std::uint32_t begin,
                                                       std::uint32_t end, const Add& add) {
#pragma unroll 2
  for (std::uint32_t step = begin; step < end; ++step) {
    const StepRows in = inputs_at<kNarrow>(w, step);
    const float4 weight = __ldg(w.value + step);
    const float of[4] = {weight.x, weight.y, weight.z, weight.w};
#pragma unroll
    for (int c = 0; c < 4; ++c) add(in.of[c], of[c]);
  }
}

// Calls add(input, weight) for the connections of the output at a place, in order.
template <typename Add>
__device__ __forceinline__ void for_each_connection(const GatherView& w, std::uint32_t place,
                                                    const Add& add) {
  const std::uint32_t begin = __ldg(w.begin + place), end = __ldg(w.begin + place + 1);
  if (w.narrow != nullptr) {
    for_each_connection_of<true>(w, begin, end, add);
  } else {
    for_each_connection_of<false>(w, begin, end, add);
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

// Adds all connections of the output at `place` to the sums of this lane's chunk of images. `x` is
// where the lane's chunk of the row of input 0 begins; rows of kImages images follow each other.
template <int kImages, typename T>
__device__ __forceinline__ void add_rows(const GatherView& w, std::uint32_t place, const T* x,
                                         float (&sum)[Chunk<T>::kImages]) {
  for_each_connection(w, place, [&](std::uint32_t input, float weight) {
    Chunk<T>::add(load_chunk(x + std::size_t{input} * kImages), weight, sum);
  });
}

}  // namespace winnow
