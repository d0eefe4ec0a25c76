// What the kernels of batch norm and of its gradients share.
#pragma once

#include "prune/training/cuda/channel_sums.cuh"
#include "prune/training/cuda/norm_kernels.h"

namespace winnow {

constexpr std::int64_t kMostNormBlocks = 528;  // four for each multiprocessor of an H200
constexpr std::int64_t kNormRowsPerThread = 4;

inline Lanes lanes_of(const NormCall& call) {
  return lanes(call.rows, call.channels / pack_size(call.type), kMostNormBlocks,
               kNormRowsPerThread);
}

// What lies behind the norm.
enum class Tail { none, relu, sum, sum_relu };

__host__ __device__ constexpr bool has_relu(Tail tail) {
  return tail == Tail::relu || tail == Tail::sum_relu;
}
__host__ __device__ constexpr bool has_addend(Tail tail) {
  return tail == Tail::sum || tail == Tail::sum_relu;
}

// What batch norm is of a channel once its statistics are known: scale x + shift.
template <int kSize>
struct Line {
  float scale[kSize], shift[kSize];

  __device__ Line(const float* weight, const float* bias, const float* mean,
                  const float* inverse_deviation, int channel)
      : Line(weight, bias, mean, channel, [=](int c) { return inverse_deviation[c]; }) {}

  // inverse_deviation(c) is that of channel c.
  template <typename InverseDeviation>
  __device__ Line(const float* weight, const float* bias, const float* mean, int channel,
                  const InverseDeviation& inverse_deviation) {
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      scale[i] = weight[channel + i] * inverse_deviation(channel + i);
      shift[i] = bias[channel + i] - mean[channel + i] * scale[i];
    }
  }
  __device__ float at(int i, float value) const {
    return fmaf(value, scale[i], shift[i]);
  }
};

// Of a launch that finishes sums over blocks.
inline dim3 finish_blocks(std::int64_t channels) {
  return dim3(static_cast<unsigned>((channels + kFinishChannels - 1) / kFinishChannels));
}

constexpr dim3 kFinishThreads(kFinishChannels, kFinishRows);

}  // namespace winnow
