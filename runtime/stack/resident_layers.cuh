// How a block takes a tile of R images through layers without leaving shared memory. A thread
// computes one output for all R images. The row of an input is read in chunks of 16 bytes; lanes
// begin at different chunks, so that a group of lanes (lane_order.h) meets other rows' banks only.
// Weights stream from L2, fetched ahead over the ends of slices and layers.
#pragma once

#include <cstdint>

#include "runtime/stack/chunk.cuh"
#include "runtime/stack/resident_weights.h"

namespace winnow {

// Rows of R values of type T.
template <typename T, int R>
struct ResidentRow {
  static constexpr int kImages = Chunk<T>::kImages;  // of a chunk
  static constexpr std::uint32_t kBytes = R * sizeof(T);
  static constexpr int kChunks = kBytes / 16;
  static constexpr std::uint32_t kClasses = 128 / kBytes;

  // In bytes: the chunk that this lane reads first; chunk j of its order is at offset ^ 16 j.
  static __device__ __forceinline__ std::uint32_t turn() {
    return threadIdx.x % 32 / kClasses % kChunks * 16;
  }
};

// A thread's weights of a run of layers, fetched ahead.
template <typename T, int R>
class ResidentStream {
 public:
  using Row = ResidentRow<T, R>;

  __device__ __forceinline__ ResidentStream(const ResidentView& weights, std::uint32_t first_layer)
      : layer(weights.layer[first_layer]) {
    const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const std::size_t start =
        warp * weights.stream + weights.begin[first_layer * kResidentWarps + warp];
    next_row_ = weights.row + start * 32 + lane;
    next_value_ = weights.value + start * 32 + lane;
#pragma unroll
    for (int q = 0; q < kResidentUnroll; ++q) fetch(q);
  }

  // Adds what `steps` steps read from the rows at x.
  __device__ __forceinline__ void add(std::uint32_t steps, const unsigned char* x,
                                      std::uint32_t turn,
                                      float (&sum)[Row::kChunks][Row::kImages]) {
#pragma unroll 1
    for (std::uint32_t k = 0; k < steps; k += kResidentUnroll) {
#pragma unroll
      for (int q = 0; q < kResidentUnroll; ++q) {
        const std::uint32_t row[4] = {rows_[q].x & 0xffff, rows_[q].x >> 16, rows_[q].y & 0xffff,
                                      rows_[q].y >> 16};
        const float weight[4] = {values_[q].x, values_[q].y, values_[q].z, values_[q].w};
        fetch(q);
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const std::uint32_t at = row[c] * Row::kBytes + turn;
#pragma unroll
          for (int j = 0; j < Row::kChunks; ++j) {
            Chunk<T>::add(*reinterpret_cast<const uint4*>(x + (at ^ j * 16)), weight[c], sum[j]);
          }
        }
      }
    }
  }

  ResidentLayer layer;  // the one that is next

 private:
  __device__ __forceinline__ void fetch(int q) {
    rows_[q] = __ldg(next_row_);
    values_[q] = __ldg(next_value_);
    next_row_ += 32;
    next_value_ += 32;
  }

  const uint2* next_row_;
  const float4* next_value_;
  uint2 rows_[kResidentUnroll];
  float4 values_[kResidentUnroll];
};

// Two buffers of rows in shared memory, at x the activations; after an odd number of layers they
// have changed places.
struct ResidentBuffers {
  const unsigned char* x;
  unsigned char* y;

  __device__ __forceinline__ void swap() {
    unsigned char* const written = y;
    y = const_cast<unsigned char*>(x);
    x = written;
  }
};

// All threads of the block call it, after a barrier; ends with one. rule_of(l) is what layer l
// makes of its sums. Returns a bit for each image that is above 0 in one of this thread's outputs
// of the last layer.
template <typename T, int R, typename RuleOf>
__device__ __forceinline__ std::uint32_t run_layers(const ResidentView& weights,
                                                    std::uint32_t first, std::uint32_t last,
                                                    ResidentStream<T, R>& stream,
                                                    ResidentBuffers& buffers,
                                                    const RuleOf& rule_of) {
  using Row = ResidentRow<T, R>;
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, turn = Row::turn();
  std::uint32_t mine = 0;
  for (std::uint32_t l = first; l < last; ++l) {
    const ResidentLayer following = l + 1 < last ? weights.layer[l + 1] : ResidentLayer{};
    const auto rule = rule_of(l);
    for (std::uint32_t s = warp; s < stream.layer.slices; s += kResidentWarps) {
      const std::uint32_t slice = stream.layer.first_slice + s;
      const std::uint32_t steps = __ldg(weights.steps + slice);
      const float bias = __ldg(weights.bias + slice * 32 + lane);
      float sum[Row::kChunks][Row::kImages] = {};
      stream.add(steps, buffers.x, turn, sum);
      const std::uint32_t at = (s * 32 + lane) * Row::kBytes + turn;
#pragma unroll
      for (int j = 0; j < Row::kChunks; ++j) {
        const std::uint32_t positive = activate(rule, bias, sum[j]);
        if (l + 1 == last) mine |= positive << (turn / 16 ^ j) * Row::kImages;
        *reinterpret_cast<uint4*>(buffers.y + (at ^ j * 16)) = Chunk<T>::pack(sum[j]);
      }
    }
    stream.layer = following;
    __syncthreads();
    buffers.swap();
  }
  return mine;
}

}  // namespace winnow
