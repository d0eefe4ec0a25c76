// Sums over the rows of [rows, channels], channel by channel, in a fixed order: first of each
// block, then of all blocks. Equal inputs give equal bits.
#pragma once

#include <cstdint>

#include "prune/training/cuda/packs.cuh"

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

constexpr int kFinishChannels = 32, kFinishRows = 16;

// The two sums of channel blockIdx.x * 32 + threadIdx.x over all blocks, at the threads of row 0.
// Blocks have 32 x 16 threads, and all of them call it.
__device__ inline double2 sum_of_blocks(const float* partial, int blocks, int channels) {
  __shared__ double2 sums[kFinishRows][kFinishChannels];
  const int channel =
      static_cast<int>(blockIdx.x) * kFinishChannels + static_cast<int>(threadIdx.x);
  double2 sum = {0.0, 0.0};
  if (channel < channels) {
    for (int block = static_cast<int>(threadIdx.y); block < blocks; block += kFinishRows) {
      sum.x += partial[static_cast<std::int64_t>(block) * channels + channel];
      sum.y += partial[static_cast<std::int64_t>(blocks + block) * channels + channel];
    }
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0) return sum;
  for (int row = 1; row < kFinishRows; ++row) {
    sum.x += sums[row][threadIdx.x].x;
    sum.y += sums[row][threadIdx.x].y;
  }
  return sum;
}

}  // namespace winnow
