// The kernel of direct_conv.h, for one element type per including file.
//
// A thread block works on one row of nonzero blocks (or a segment of its channels) and a run of
// output positions of a sub-batch. Values and offsets come into shared memory chunk by chunk
// (cp.async, two buffers); all threads walk them in step, so reading them is a broadcast. A loaded
// input serves all channels of the block; a loaded weight serves all images of the sub-batch.
#pragma once

#include <cuda_pipeline.h>

#include "runtime/device/cluster.cuh"
#include "runtime/device/overlap.cuh"
#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/conv/direct_conv.h"
#include "runtime/gpu/layer/indexing.cuh"

namespace winnow {

inline constexpr int kDirectMaxThreads = 256;
inline constexpr int kDirectMaxShares = 8;

// Blocks per chunk: two buffers of values and offsets stay under 10 KB.
template <int kChannels>
inline constexpr int kDirectChunk = kChannels == 1   ? 512
                                    : kChannels == 8 ? 128
                                                     : 64;
template <int kChannels>
inline constexpr int kDirectStagedFloats = 2 * kDirectChunk<kChannels>*(kChannels + 1);

struct DirectArguments {
  const void* input = nullptr;  // of output (0, 0): its (c, r, s) = (0, 0, 0), in the halo
  void* output = nullptr;       // of position (0, 0)
  const float* values = nullptr;
  const std::int32_t* offsets = nullptr;
  const int4* bounds = nullptr;  // {row, its first block, its blocks, 0}, longest rows first
  const float* bias = nullptr;
  std::int64_t in_image = 0, out_image = 0, in_group = 0;  // strides in elements
  std::int64_t out_channel = 0;
  std::int32_t in_row = 0, in_column = 0, out_row = 0, out_column = 0;  // in: times conv stride
  FastDivisor width, plane, segments, row_segments;
  std::uint32_t images = 0, positions = 0;  // positions: of all sub-batches together
  std::int32_t channels = 0, channels_per_group = 0, vector = 0;
  std::int32_t row_length = 0;  // of every row, which needs no bounds then; 0: see `bounds`
  std::int32_t shares = 1;      // thread blocks of a cluster
  bool has_relu = false;
};

// ---------------------------------------------------------------------------------- device

// The images of one thread: kSubBatch separate images, or neighbouring lanes of chwn8.
template <typename T, int kSubBatch, bool kPacked>
struct DirectImages;

template <typename T, int kSubBatch>
struct DirectImages<T, kSubBatch, false> {
  const T* base[kSubBatch];

  __device__ __forceinline__ void load(std::int32_t offset, float (&x)[kSubBatch]) const {
#pragma unroll
    for (int b = 0; b < kSubBatch; ++b) x[b] = widen(base[b][offset]);
  }
};

template <int kSubBatch>
struct DirectImages<float, kSubBatch, true> {
  const float* base;

  __device__ __forceinline__ void load(std::int32_t offset, float (&x)[kSubBatch]) const {
    const auto* lanes = reinterpret_cast<const float4*>(base + offset);
#pragma unroll
    for (int i = 0; i < kSubBatch / 4; ++i) {
      const float4 four = lanes[i];
      x[4 * i] = four.x, x[4 * i + 1] = four.y, x[4 * i + 2] = four.z, x[4 * i + 3] = four.w;
    }
  }
};

__device__ __forceinline__ void widen_two(unsigned bits, float& first, float& second) {
  __half2 two;
  memcpy(&two, &bits, sizeof(two));
  const float2 wide = __half22float2(two);
  first = wide.x, second = wide.y;
}

template <>
struct DirectImages<__half, 8, true> {
  const __half* base;

  __device__ __forceinline__ void load(std::int32_t offset, float (&x)[8]) const {
    const uint4 lanes = *reinterpret_cast<const uint4*>(base + offset);
    widen_two(lanes.x, x[0], x[1]);
    widen_two(lanes.y, x[2], x[3]);
    widen_two(lanes.z, x[4], x[5]);
    widen_two(lanes.w, x[6], x[7]);
  }
};

template <>
struct DirectImages<__half, 4, true> {
  const __half* base;

  __device__ __forceinline__ void load(std::int32_t offset, float (&x)[4]) const {
    const uint2 lanes = *reinterpret_cast<const uint2*>(base + offset);
    widen_two(lanes.x, x[0], x[1]);
    widen_two(lanes.y, x[2], x[3]);
  }
};

// Where a thread's outputs lie.
struct DirectPlace {
  std::uint32_t first_image = 0;
  std::uint32_t y = 0, x = 0;
  bool is_inside = false;
};

template <int kSubBatch, bool kPacked>
__device__ __forceinline__ DirectPlace direct_place(const DirectArguments& a, std::uint32_t tile) {
  DirectPlace place;
  std::uint32_t position = tile * blockDim.x + threadIdx.x;
  place.is_inside = position < a.positions;
  if (!place.is_inside) position = a.positions - 1;  // computes along, stores nothing
  std::uint32_t lane = 0;
  if (kPacked && kSubBatch < kPackedImages) {  // two threads share the lanes of a position
    lane = position % (kPackedImages / kSubBatch) * kSubBatch;
    position /= kPackedImages / kSubBatch;
  }
  std::uint32_t pixel = a.plane.split(position);
  place.first_image = position * (kPacked ? kPackedImages : kSubBatch) + lane;
  place.x = a.width.split(pixel);
  place.y = pixel;
  return place;
}

template <typename T, int kSubBatch, bool kPacked>
__device__ __forceinline__ DirectImages<T, kSubBatch, kPacked> direct_images(
    const DirectArguments& a, const DirectPlace& place, std::int64_t group) {
  const T* corner = static_cast<const T*>(a.input) + group * a.in_group +
                    std::int64_t{place.y} * a.in_row + std::int64_t{place.x} * a.in_column;
  DirectImages<T, kSubBatch, kPacked> images;
  if constexpr (kPacked) {
    images.base = corner + (place.first_image / kPackedImages) * a.in_image +
                  place.first_image % kPackedImages;
  } else {
#pragma unroll
    for (int b = 0; b < kSubBatch; ++b) {
      images.base[b] = corner + min(place.first_image + b, a.images - 1) * a.in_image;
    }
  }
  return images;
}

// Copies `count` blocks (a multiple of 4) to shared memory, 16 bytes a time.
template <int kChannels>
__device__ __forceinline__ void direct_stage(const float* values, const std::int32_t* offsets,
                                             int count, float* to_values,
                                             std::int32_t* to_offsets) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const int threads = blockDim.x * blockDim.y;
  for (int i = thread * 4; i < count * kChannels; i += threads * 4) {
    __pipeline_memcpy_async(to_values + i, values + i, 16);
  }
  for (int i = thread * 4; i < count; i += threads * 4) {
    __pipeline_memcpy_async(to_offsets + i, offsets + i, 16);
  }
  __pipeline_commit();
}

// sums[v * kSubBatch + b] += value[v] x[b] over blocks [first, last) of a chunk.
template <typename T, int kChannels, int kSubBatch, bool kPacked>
__device__ __forceinline__ void direct_accumulate(const DirectImages<T, kSubBatch, kPacked>& images,
                                                  const float* values, const std::int32_t* offsets,
                                                  int first, int last,
                                                  float (&sums)[kChannels * kSubBatch]) {
  // Blocks whose inputs are loaded before the first is used: fewer where registers are short.
  constexpr int kAhead = kChannels == 8 && kSubBatch >= 4 && !kPacked ? 2 : kDirectUnroll;
  for (int u = first; u < last; u += kDirectUnroll) {
    const int4 four = *reinterpret_cast<const int4*>(offsets + u);
    const std::int32_t offset[kDirectUnroll] = {four.x, four.y, four.z, four.w};
    float w[kDirectUnroll * kChannels];
#pragma unroll
    for (int i = 0; i < kDirectUnroll * kChannels; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(values + u * kChannels + i);
      w[i] = four.x, w[i + 1] = four.y, w[i + 2] = four.z, w[i + 3] = four.w;
    }
#pragma unroll
    for (int ahead = 0; ahead < kDirectUnroll; ahead += kAhead) {
      float x[kAhead][kSubBatch];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) images.load(offset[ahead + i], x[i]);
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
#pragma unroll
        for (int v = 0; v < kChannels; ++v) {
#pragma unroll
          for (int b = 0; b < kSubBatch; ++b) {
            sums[v * kSubBatch + b] += w[(ahead + i) * kChannels + v] * x[i][b];
          }
        }
      }
    }
  }
}

// Sums up all chunks of one segment of a row.
template <typename T, int kChannels, int kSubBatch, bool kPacked>
__device__ __forceinline__ void direct_sum_chunks(const DirectImages<T, kSubBatch, kPacked>& images,
                                                  const float* values, const std::int32_t* offsets,
                                                  int blocks, float* shared,
                                                  float (&sums)[kChannels * kSubBatch]) {
  constexpr int kChunk = kDirectChunk<kChannels>;
  std::int32_t* shared_offsets = reinterpret_cast<std::int32_t*>(shared + 2 * kChunk * kChannels);
  const auto stage = [&](int first) {
    const int buffer = first / kChunk % 2;
    direct_stage<kChannels>(values + first * kChannels, offsets + first,
                            min(kChunk, blocks - first), shared + buffer * kChunk * kChannels,
                            shared_offsets + buffer * kChunk);
  };
  stage(0);
  wait_for_launch_before();
  for (int first = 0; first < blocks; first += kChunk) {
    const int count = min(kChunk, blocks - first);
    const int buffer = first / kChunk % 2;
    if (first + kChunk < blocks) {
      stage(first + kChunk);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    const int fours = (count / kDirectUnroll + blockDim.y - 1) / blockDim.y;
    const int begin = min(count, static_cast<int>(threadIdx.y) * fours * kDirectUnroll);
    const int end = min(count, begin + fours * kDirectUnroll);
    direct_accumulate<T, kChannels, kSubBatch, kPacked>(
        images, shared + buffer * kChunk * kChannels, shared_offsets + buffer * kChunk, begin, end,
        sums);
    __syncthreads();
  }
}

__device__ __forceinline__ float direct_finish(const DirectArguments& a, float sum, int channel) {
  const float result = sum + __ldg(a.bias + channel);
  return a.has_relu && result < 0.0f ? 0.0f : result;  // NaN stays
}

// Stores the kSubBatch outputs of one channel: one vector for chwn8, else image by image.
template <typename T, int kSubBatch, bool kPacked>
__device__ __forceinline__ void direct_store(const DirectArguments& a, T* corner,
                                             const DirectPlace& place, int channel,
                                             const float* results) {
  T* at = corner + channel * a.out_channel;
  if constexpr (kPacked) {
    struct alignas(sizeof(T) * kSubBatch > 16 ? 16 : sizeof(T) * kSubBatch) Lanes {
      T values[kSubBatch];
    } lanes;
#pragma unroll
    for (int b = 0; b < kSubBatch; ++b) lanes.values[b] = narrow<T>(results[b]);
    *reinterpret_cast<Lanes*>(at) = lanes;
  } else {
#pragma unroll
    for (int b = 0; b < kSubBatch; ++b) {
      if (place.first_image + b < a.images) at[b * a.out_image] = narrow<T>(results[b]);
    }
  }
}

// Adds up sum `i` of this thread's position over all slices, the first one first.
// `shared` [slices][kSums][positions].
template <int kSums>
__device__ __forceinline__ float direct_add_slices(const float* shared, int i) {
  const int slices = static_cast<int>(blockDim.y);
  float sum = 0.0f;
  for (int slice = 0; slice < slices; ++slice) {
    sum += shared[(slice * kSums + i) * blockDim.x + threadIdx.x];
  }
  return sum;
}

// The same over all thread blocks of the cluster, whose slice 0 has the sum of their slices. All
// loads are under way together.
__device__ __forceinline__ float direct_add_shares(const DirectArguments& a, const float* shared,
                                                   int i) {
  const std::uint32_t at = shared_address(shared + i * blockDim.x + threadIdx.x);
  float part[kDirectMaxShares];
#pragma unroll
  for (int share = 0; share < kDirectMaxShares; ++share) {
    const auto rank = static_cast<std::uint32_t>(share);
    part[share] = share < a.shares ? load_in_cluster(address_in(at, rank)) : 0.0f;
  }
  float sum = 0.0f;
#pragma unroll
  for (int share = 0; share < kDirectMaxShares; ++share) sum += part[share];
  return sum;
}

// Puts the sums of all slices into slice 0; a sum is read and written by one thread alone.
template <int kChannels, int kSubBatch>
__device__ __forceinline__ void direct_join_slices(float* shared) {
  constexpr int kSums = kChannels * kSubBatch;
  for (int v = threadIdx.y; v < kChannels; v += blockDim.y) {
    for (int i = v * kSubBatch; i < (v + 1) * kSubBatch; ++i) {
      shared[i * blockDim.x + threadIdx.x] = direct_add_slices<kSums>(shared, i);
    }
  }
}

// Adds up the partial sums of slices and of thread blocks that share a row, and stores them. Each
// thread block of a cluster finishes some of the channels.
template <typename T, int kChannels, int kSubBatch, bool kPacked>
__device__ __forceinline__ void direct_reduce_and_store(
    const DirectArguments& a, T* corner, const DirectPlace& place, int channel0, float* shared,
    const float (&sums)[kChannels * kSubBatch]) {
  constexpr int kSums = kChannels * kSubBatch;
  const int positions = blockDim.x;
#pragma unroll
  for (int i = 0; i < kSums; ++i) {
    shared[(threadIdx.y * kSums + i) * positions + threadIdx.x] = sums[i];
  }
  __syncthreads();
  const bool is_shared = a.shares > 1;
  if (is_shared) {
    direct_join_slices<kChannels, kSubBatch>(shared);
    __syncwarp();
    meet_in_cluster();
  }
  const int rank = static_cast<int>(blockIdx.x) & (a.shares - 1);
  for (int v = threadIdx.y + rank * blockDim.y; v < kChannels; v += blockDim.y * a.shares) {
    if (!place.is_inside || channel0 + v >= a.channels) continue;
    float results[kSubBatch];
#pragma unroll
    for (int b = 0; b < kSubBatch; ++b) {
      const int i = v * kSubBatch + b;
      const float sum =
          is_shared ? direct_add_shares(a, shared, i) : direct_add_slices<kSums>(shared, i);
      results[b] = direct_finish(a, sum, channel0 + v);
    }
    direct_store<T, kSubBatch, kPacked>(a, corner, place, channel0 + v, results);
  }
  if (is_shared) {  // others may still read sums of this thread block
    __syncwarp();
    meet_in_cluster();
  }
}

// Thread blocks per SM that the registers must allow: partial sums decide.
constexpr int direct_thread_blocks(int sums) {
  return sums >= 64 ? 2 : sums >= 32 ? 3 : 4;
}

template <typename T, int kChannels, int kSubBatch, bool kPacked>
__global__ void __launch_bounds__(kDirectMaxThreads, direct_thread_blocks(kChannels* kSubBatch))
    direct_kernel(const DirectArguments a) {
  extern __shared__ __align__(16) float direct_shared[];
  begin_next_launch();
  std::uint32_t tile = blockIdx.x / static_cast<std::uint32_t>(a.shares);
  std::uint32_t row = a.row_segments.split(tile);
  const int segment = static_cast<int>(a.segments.split(row));
  int begin = static_cast<int>(row) * a.row_length, blocks = a.row_length;
  if (blocks == 0) {
    const int4 bounds = __ldg(a.bounds + row);
    row = static_cast<std::uint32_t>(bounds.x);
    begin = bounds.y;
    blocks = bounds.z;
  }
  const int channel0 = static_cast<int>(row) * a.vector + segment * kChannels;
  if (channel0 >= a.channels) return;  // the whole thread block: a last row's unused segment

  const DirectPlace place = direct_place<kSubBatch, kPacked>(a, tile);
  const auto images =
      direct_images<T, kSubBatch, kPacked>(a, place, channel0 / a.channels_per_group);
  float sums[kChannels * kSubBatch] = {};
  const float* values =
      a.values + std::int64_t{begin} * a.vector + std::int64_t{segment} * blocks * kChannels;
  const int rank = static_cast<int>(blockIdx.x) & (a.shares - 1);
  const DirectShare share = direct_share(blocks, a.shares, rank);
  direct_sum_chunks<T, kChannels, kSubBatch, kPacked>(images, values + share.first * kChannels,
                                                      a.offsets + begin + share.first, share.blocks,
                                                      direct_shared, sums);

  T* corner = static_cast<T*>(a.output) + std::int64_t{place.y} * a.out_row +
              std::int64_t{place.x} * a.out_column;
  if constexpr (kPacked) {
    corner += (place.first_image / kPackedImages) * a.out_image + place.first_image % kPackedImages;
  } else {
    corner += place.first_image * a.out_image;
  }
  if constexpr (kChannels * kSubBatch <= 32) {
    if (blockDim.y > 1 || a.shares > 1) {
      direct_reduce_and_store<T, kChannels, kSubBatch, kPacked>(a, corner, place, channel0,
                                                                direct_shared, sums);
      return;
    }
  }
  if (!place.is_inside) return;
#pragma unroll
  for (int v = 0; v < kChannels; ++v) {
    if (channel0 + v >= a.channels) break;
    float results[kSubBatch];
#pragma unroll
    for (int b = 0; b < kSubBatch; ++b) {
      results[b] = direct_finish(a, sums[v * kSubBatch + b], channel0 + v);
    }
    direct_store<T, kSubBatch, kPacked>(a, corner, place, channel0 + v, results);
  }
}

// ------------------------------------------------------------------------------------ host

struct DirectLaunch {
  dim3 grid, block;
  int cluster = 1;
  cudaStream_t stream = nullptr;
};

template <typename T, int kChannels, int kSubBatch, bool kPacked>
void launch_direct_kernel(const DirectArguments& arguments, const DirectLaunch& launch) {
  const std::size_t staged = kDirectStagedFloats<kChannels>;
  const std::size_t reduced =
      launch.block.y > 1 || launch.cluster > 1
          ? std::size_t{launch.block.x} * launch.block.y * kChannels * kSubBatch
          : 0;
  const std::size_t bytes = (staged > reduced ? staged : reduced) * sizeof(float);
  launch_overlapping(direct_kernel<T, kChannels, kSubBatch, kPacked>,
                     {launch.grid, launch.block, bytes, launch.cluster}, true, launch.stream,
                     arguments);
}

template <typename T, int kChannels>
void launch_direct_channels(const DirectTile& tile, bool is_packed,
                            const DirectArguments& arguments, const DirectLaunch& launch) {
  if (is_packed) {
    if constexpr (kChannels < 16) {
      if (tile.sub_batch == 8) {
        return launch_direct_kernel<T, kChannels, 8, true>(arguments, launch);
      }
    }
    return launch_direct_kernel<T, kChannels, 4, true>(arguments, launch);
  }
  if constexpr (kChannels < 16) {
    if (tile.sub_batch == 8) return launch_direct_kernel<T, kChannels, 8, false>(arguments, launch);
  }
  if (tile.sub_batch == 4) return launch_direct_kernel<T, kChannels, 4, false>(arguments, launch);
  if (tile.sub_batch == 2) return launch_direct_kernel<T, kChannels, 2, false>(arguments, launch);
  return launch_direct_kernel<T, kChannels, 1, false>(arguments, launch);
}

// The tile has passed is_valid.
template <typename T>
void launch_direct(const DirectTile& tile, bool is_packed, const DirectArguments& arguments,
                   const DirectLaunch& launch) {
  switch (tile.channels) {
    case 16:
      return launch_direct_channels<T, 16>(tile, is_packed, arguments, launch);
    case 8:
      return launch_direct_channels<T, 8>(tile, is_packed, arguments, launch);
    case 1:
      return launch_direct_channels<T, 1>(tile, is_packed, arguments, launch);
  }
  fail(ErrorCode::internal, "direct convolution: no kernel for ", tile.channels, " channels");
}

void launch_direct_f32(const DirectTile& tile, bool is_packed, const DirectArguments& arguments,
                       const DirectLaunch& launch);
void launch_direct_f16(const DirectTile& tile, bool is_packed, const DirectArguments& arguments,
                       const DirectLaunch& launch);

}  // namespace winnow
