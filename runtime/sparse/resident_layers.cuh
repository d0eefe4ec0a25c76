// How a thread block, or a cluster of them, takes a tile of R images through layers without leaving
// shared memory.
//
//   row    the activations of one neuron for the R images of the tile, R x sizeof(T) bytes
//   chunk  16 bytes of a row (chunk.cuh)
//   slice  the outputs of a layer that a warp computes at a time: 32, one a thread, or 8 by tensor
//          cores (resident_fragments.cuh)
//   step   128 connections of a slice, fetched at once
//
// Lanes begin at different chunks of their rows, so that the lanes that shared memory serves at a
// time (access_order.h) meet different banks. Weights come from the L2 cache; each thread fetches
// them some steps ahead, over the ends of slices and layers.
#pragma once

#include <cstdint>

#include "runtime/sparse/chunk.cuh"
#include "runtime/sparse/resident_weights.h"
#include "runtime/sparse/step_rows.cuh"

namespace winnow {

// Sizes of a row of R values of type T.
template <typename T, int R>
struct ResidentRow {
  static constexpr int kImages = Chunk<T>::kImages;  // of a chunk
  static constexpr std::uint32_t kBytes = R * sizeof(T);
  static constexpr int kChunks = kBytes / 16;
  static constexpr std::uint32_t kBankGroups = 128 / kBytes;

  // Where in a row the chunk lies that this lane reads first, in bytes; the j-th chunk that it
  // reads lies at turn() ^ 16 j.
  static __device__ __forceinline__ std::uint32_t turn() {
    return threadIdx.x % 32 / kBankGroups % kChunks * 16;
  }
};

// The threads 0 to kResidentThreads - 1 of a thread block, which have a tile to themselves; the
// block may have others, that do something else. ThreadBlockCluster (runtime/gpu/linear) has the
// same functions for a cluster that shares one.
struct ThreadBlock {
  static constexpr std::uint32_t kWarps = kResidentWarps;

  __device__ __forceinline__ std::uint32_t warp() const { return threadIdx.x / 32; }
  __device__ __forceinline__ std::uint32_t warps() const { return kWarps; }

  // Around the stores of a layer, whose outputs are so many bytes: after end_layer() every thread
  // sees all of them.
  __device__ __forceinline__ void begin_layer(std::uint32_t) {}
  // Before a slice is stored.
  __device__ __forceinline__ void begin_stores() {}
  template <typename Word>
  __device__ __forceinline__ void store(unsigned char* to, const Word& value) const {
    *reinterpret_cast<Word*>(to) = value;
  }
  __device__ __forceinline__ void end_layer(bool /*is_last*/) {
    asm volatile("bar.sync 1, %0;" ::"n"(kResidentThreads) : "memory");
  }
};

// Where a thread is in the stream of its warp's weights (ResidentView). Fetches the number of steps
// and the bias of the next slice ahead.
class ResidentPlace {
 public:
  __device__ __forceinline__ ResidentPlace(const ResidentView& weights, std::uint32_t first_layer,
                                           std::uint32_t warp) {
    const std::uint32_t lane = threadIdx.x % 32;
    const uint2 begin = __ldg(weights.begin + first_layer * weights.warps + warp);
    const std::size_t step = (warp * weights.step_stream + begin.x) * 32 + lane;
    row_ = weights.row + step;
    weight_ = weights.weight + step;
    const std::size_t slice = warp * weights.slice_stream + begin.y;
    next_steps_ = weights.steps + slice;
    next_bias_ = weights.bias + slice * 32 + lane;
    fetch_slice();
  }

  __device__ __forceinline__ const uint2* row() const { return row_; }
  __device__ __forceinline__ const uint4* weight() const { return weight_; }
  __device__ __forceinline__ void next_step() {
    row_ += 32;
    weight_ += 32;
  }

  // Of the next slice.
  __device__ __forceinline__ void take_slice(std::uint32_t& steps, float& bias) {
    steps = steps_;
    bias = bias_;
    fetch_slice();
  }

 private:
  __device__ __forceinline__ void fetch_slice() {
    steps_ = __ldg(next_steps_);
    bias_ = __ldg(next_bias_);
    ++next_steps_;
    next_bias_ += 32;
  }

  const uint2* row_;
  const uint4* weight_;
  const std::uint16_t* next_steps_;
  const float* next_bias_;
  std::uint32_t steps_;
  float bias_;
};

// The weights of a thread's next steps, fetched kUnroll steps ahead into registers, over the ends
// of slices and layers.
template <int kUnroll>
class ResidentSteps {
 public:
  __device__ __forceinline__ ResidentSteps(const ResidentView& weights, std::uint32_t first_layer,
                                           std::uint32_t warp)
      : at_(weights, first_layer, warp) {
    fetch();
  }

  __device__ __forceinline__ void take_slice(std::uint32_t& steps, float& bias) {
    at_.take_slice(steps, bias);
  }

  // Calls add(rows, weights), as ResidentView has them, for the next `steps` steps, a multiple of
  // kUnroll above 0. Code that calls it twice in a row lets the two take turns with registers: one
  // that is fetched into is not read by a move before its time.
  template <typename Add>
  __device__ __forceinline__ void for_each(std::uint32_t steps, const Add& add) {
    add_fetched(add);
#pragma unroll 1
    for (std::uint32_t k = kUnroll; k < steps; k += kUnroll) add_fetched(add);
  }

 private:
  __device__ __forceinline__ void fetch() {
#pragma unroll
    for (int q = 0; q < kUnroll; ++q) {
      rows_[q] = __ldg(at_.row());
      weights_[q] = __ldg(at_.weight());
      at_.next_step();
    }
  }

  template <typename Add>
  __device__ __forceinline__ void add_fetched(const Add& add) {
    uint2 rows[kUnroll];
    uint4 weights[kUnroll];
#pragma unroll
    for (int q = 0; q < kUnroll; ++q) {
      rows[q] = rows_[q];
      weights[q] = weights_[q];
    }
    fetch();
#pragma unroll
    for (int q = 0; q < kUnroll; ++q) add(step_rows(rows[q]), weights[q]);
  }

  ResidentPlace at_;
  uint2 rows_[kUnroll];
  uint4 weights_[kUnroll];
};

// A thread's sums by FMAs. A slice has an output for each lane.
template <typename T, int R, int kUnroll = kResidentUnroll>
class ResidentStream : public ResidentSteps<kUnroll> {
 public:
  using Row = ResidentRow<T, R>;
  static constexpr std::uint32_t kOutputs = 32;  // of a slice

  struct Sums {
    float of[Row::kChunks][Row::kImages] = {};
  };

  using ResidentSteps<kUnroll>::ResidentSteps;

  // Adds `steps` steps, a multiple of kUnroll, with the activations at x.
  __device__ __forceinline__ void add(std::uint32_t steps, const unsigned char* x, Sums& sums) {
    const std::uint32_t turn = Row::turn();
    for_each_connection(steps, [&](std::uint32_t row, float weight) {
      const std::uint32_t at = row * Row::kBytes + turn;
#pragma unroll
      for (int j = 0; j < Row::kChunks; ++j) {
        Chunk<T>::add(*reinterpret_cast<const uint4*>(x + (at ^ j * 16)), weight, sums.of[j]);
      }
    });
  }

  // The same with activations that are 0 or 1: bit i of word x[row] is image i of the row.
  __device__ __forceinline__ void add_bits(std::uint32_t steps, const std::uint32_t* x,
                                           Sums& sums) {
    for_each_connection(steps, [&](std::uint32_t row, float weight) {
      const std::uint32_t word = x[row];
#pragma unroll
      for (int i = 0; i < R; ++i) {
        if ((word >> i & 1) != 0) sums.of[i / Row::kImages][i % Row::kImages] += weight;
      }
    });
    turn(sums);
  }

  // Writes what the epilogue makes of the sums of a slice to the rows at y. Returns a bit for each
  // image of the tile that is above 0 in one of this thread's outputs.
  template <typename Threads, typename Epilogue>
  __device__ __forceinline__ std::uint32_t finish(Threads& threads, const Epilogue& epilogue,
                                                  float bias, std::uint32_t slice, Sums& sums,
                                                  unsigned char* y) const {
    const std::uint32_t turn = Row::turn();
    const std::uint32_t at = (slice * kOutputs + threadIdx.x % 32) * Row::kBytes + turn;
    std::uint32_t above = 0;
#pragma unroll
    for (int j = 0; j < Row::kChunks; ++j) {
      const std::uint32_t positive = activate(epilogue, bias, sums.of[j]);
      above |= positive << (turn / 16 ^ j) * Row::kImages;
      threads.store(y + (at ^ j * 16), Chunk<T>::pack(sums.of[j]));
    }
    return above;
  }

 private:
  // Sums by chunk to sums by the turn of chunks, which is an exclusive or.
  static __device__ __forceinline__ void turn(Sums& sums) {
    const std::uint32_t turn = Row::turn() / 16;
#pragma unroll
    for (int bit = 1; bit < Row::kChunks; bit *= 2) {
      const bool is_turned = (turn & bit) != 0;
#pragma unroll
      for (int j = 0; j < Row::kChunks; ++j) {
        if ((j & bit) != 0) continue;
#pragma unroll
        for (int i = 0; i < Row::kImages; ++i) {
          const float low = sums.of[j][i], high = sums.of[j | bit][i];
          sums.of[j][i] = is_turned ? high : low;
          sums.of[j | bit][i] = is_turned ? low : high;
        }
      }
    }
  }

  // Calls add(row, weight) for the four connections of each step.
  template <typename Add>
  __device__ __forceinline__ void for_each_connection(std::uint32_t steps, const Add& add) {
    this->for_each(steps, [&](const StepRows& rows, const uint4& weights) {
      const std::uint32_t words[4] = {weights.x, weights.y, weights.z, weights.w};
#pragma unroll
      for (int c = 0; c < 4; ++c) add(rows.of[c], __uint_as_float(words[c]));
    });
  }
};

// Two buffers of rows in shared memory: a layer reads x and writes y, then they are swapped.
struct ResidentBuffers {
  const unsigned char* x;
  unsigned char* y;

  __device__ __forceinline__ void swap() {
    unsigned char* const written = y;
    y = const_cast<unsigned char*>(x);
    x = written;
  }
};

// Computes one layer of `slices` slices: add(steps, sums) adds to the sums of a slice what the
// stream holds of it. Returns what Stream::finish() does, if `is_last`.
template <typename T, int R, typename Threads, typename Stream, typename Epilogue, typename Add>
__device__ __forceinline__ std::uint32_t run_layer(Threads& threads, std::uint32_t slices,
                                                   Stream& stream, ResidentBuffers& buffers,
                                                   const Epilogue& epilogue, bool is_last,
                                                   const Add& add) {
  std::uint32_t mine = 0;
  const auto compute = [&](std::uint32_t slice) {
    std::uint32_t steps;
    float bias;
    stream.take_slice(steps, bias);
    typename Stream::Sums sums;
    add(steps, sums);
    threads.begin_stores();
    const std::uint32_t above = stream.finish(threads, epilogue, bias, slice, sums, buffers.y);
    if (is_last) mine |= above;
  };
  threads.begin_layer(slices * Stream::kOutputs * ResidentRow<T, R>::kBytes);
  for (std::uint32_t s = threads.warp(); s < slices; s += threads.warps()) {
    compute(s);
    s += threads.warps();
    if (s >= slices) break;
    compute(s);
  }
  threads.end_layer(is_last);
  buffers.swap();
  return mine;
}

// Computes the layers [first, last). All threads that share the tile call it together, once its
// inputs are in buffers.x for all of them; the outputs are in buffers.x afterwards. epilogue_of(l)
// makes of a sum and a bias what layer l gives. Returns a bit for each image of the tile that is
// above 0 in one of this thread's outputs of the last layer.
template <typename T, int R, typename Threads, typename Stream, typename EpilogueOf>
__device__ __forceinline__ std::uint32_t run_layers(Threads& threads, const ResidentView& weights,
                                                    std::uint32_t first, std::uint32_t last,
                                                    Stream& stream, ResidentBuffers& buffers,
                                                    const EpilogueOf& epilogue_of) {
  std::uint32_t slices = __ldg(weights.slices + first);
  std::uint32_t mine = 0;
  for (std::uint32_t l = first; l < last; ++l) {
    const std::uint32_t following = l + 1 < last ? __ldg(weights.slices + l + 1) : 0;
    mine = run_layer<T, R>(threads, slices, stream, buffers, epilogue_of(l), l + 1 == last,
                           [&](std::uint32_t steps, typename Stream::Sums& sums) {
                             stream.add(steps, buffers.x, sums);
                           });
    slices = following;
  }
  return mine;
}

}  // namespace winnow
