// Sums over the rows of [rows, channels], channel by channel, in a fixed order: first of each
// block, then of all blocks. Equal inputs give equal bits.
#pragma once

#include <cstdint>

#include "prune/training/cuda/packs.cuh"
#include "prune/training/cuda/warp_sum.cuh"

namespace winnow {

constexpr int kThreads = 256;

// Threads of a block: x are packs of channels, y rows. Blocks: x take turns at rows, y divide the
// channels.
struct Lanes {
  dim3 blocks, threads;
};

inline Lanes lanes(std::int64_t rows, std::int64_t packs, std::int64_t most_blocks,
                   std::int64_t rows_per_thread) {
  const std::int64_t slices = (packs + kThreads - 1) / kThreads;
  const std::int64_t across = (packs + slices - 1) / slices;
  const std::int64_t down = kThreads / across;
  std::int64_t blocks = (rows + down * rows_per_thread - 1) / (down * rows_per_thread);
  blocks = blocks < most_blocks / slices ? blocks : most_blocks / slices;
  return {dim3(static_cast<unsigned>(blocks > 0 ? blocks : 1), static_cast<unsigned>(slices)),
          dim3(static_cast<unsigned>(across), static_cast<unsigned>(down))};
}

// The first channel of this thread.
template <typename T>
__device__ int channel_of_thread() {
  return static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x) * Pack<T>::kSize;
}

// partial [2][gridDim.x][channels]: this block's sums of what its threads have in `first` and
// `second`. Every thread of the block calls it.
template <typename T>
__device__ void store_block_sums(const float (&first)[Pack<T>::kSize],
                                 const float (&second)[Pack<T>::kSize], int channels,
                                 float* partial) {
  constexpr int kSize = Pack<T>::kSize;
  __shared__ float sums[2][kThreads * kSize];  // [2][blockDim.y][width]
  const int width = static_cast<int>(blockDim.x) * kSize;
  const int place = static_cast<int>(threadIdx.y) * width + static_cast<int>(threadIdx.x) * kSize;
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    sums[0][place + i] = first[i];
    sums[1][place + i] = second[i];
  }
  __syncthreads();
  const int base = static_cast<int>(blockIdx.y) * width;
  const int step = static_cast<int>(blockDim.x * blockDim.y);
  for (int i = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x); i < 2 * width; i += step) {
    const int which = i / width;
    const int channel = i % width;
    if (base + channel >= channels) continue;
    float sum = 0.0f;
    for (int y = 0; y < static_cast<int>(blockDim.y); ++y) sum += sums[which][y * width + channel];
    partial[(static_cast<std::int64_t>(which) * gridDim.x + blockIdx.x) * channels + base +
            channel] = sum;
  }
}

// A warp has 4 rows of 8 channels, which are a sector of 32 bytes. Few channels still make many
// blocks, and a thread has few sums to read, one after the other.
constexpr int kFinishChannels = 8, kFinishRows = 64;
constexpr int kFinishWarps = kFinishChannels * kFinishRows / kWarpSize;

__device__ inline int channel_to_finish() {
  return static_cast<int>(blockIdx.x * kFinishChannels + threadIdx.x);
}

__device__ inline void add_to(double2& sum, const double2& more) {
  sum.x += more.x;
  sum.y += more.y;
}

// The two sums of channel_to_finish() over all blocks, at the threads of row 0. Blocks have 8 x 64
// threads, and all of them call it.
__device__ inline double2 sum_of_blocks(const float* partial, int blocks, int channels) {
  __shared__ double2 sums[kFinishWarps][kFinishChannels];
  const int channel = channel_to_finish();
  double2 sum = {0.0, 0.0};
  if (channel < channels) {
#pragma unroll 4
    for (int block = static_cast<int>(threadIdx.y); block < blocks; block += kFinishRows) {
      sum.x += partial[static_cast<std::int64_t>(block) * channels + channel];
      sum.y += partial[static_cast<std::int64_t>(blocks + block) * channels + channel];
    }
  }
  // The rows of this warp that have the same channel.
  for (int rows = kFinishChannels; rows < kWarpSize; rows *= 2) {
    add_to(sum, {__shfl_xor_sync(kAllLanes, sum.x, rows), __shfl_xor_sync(kAllLanes, sum.y, rows)});
  }
  const int thread = static_cast<int>(threadIdx.y * kFinishChannels + threadIdx.x);
  if (thread % kWarpSize < kFinishChannels) sums[thread / kWarpSize][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0) return sum;
#pragma unroll
  for (int warp = 1; warp < kFinishWarps; ++warp) add_to(sum, sums[warp][threadIdx.x]);
  return sum;
}

}  // namespace winnow
