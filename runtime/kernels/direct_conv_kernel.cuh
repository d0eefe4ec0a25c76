// The kernel of direct_conv.h, for one element type per including file.
//
// A block works on a few rows of units (or a part of their channels) and a run of output positions
// of a sub-batch. Values and offsets come into shared memory chunk by chunk (cp.async, two
// buffers); all threads of a row walk them in step, so reading them is a broadcast. A loaded input
// serves all channels of the unit; a loaded weight serves all images of the sub-batch. The rows of
// a block walk through the input channels side by side, so what one brings into the L1 cache serves
// the others.
#pragma once

#include <cuda_pipeline.h>

#include "runtime/device/cuda_check.h"
#include "runtime/kernels/direct_conv.h"
#include "runtime/kernels/indexing.cuh"

namespace winnow {

inline constexpr int kDirectMaxThreads = 256;
inline constexpr int kDirectMaxSlicedSums = 32;  // their exchange must fit 48 KB of shared memory

struct DirectArguments {
  const void* input = nullptr;  // of output (0, 0): its (c, r, s) = (0, 0, 0), in the halo
  void* output = nullptr;       // of position (0, 0)
  const float* values = nullptr;
  const std::int32_t* offsets = nullptr;
  const std::int32_t* begin = nullptr;
  const std::int32_t* order = nullptr;
  const float* bias = nullptr;
  std::int64_t in_image = 0, out_image = 0, in_group = 0;  // strides in elements
  std::int64_t out_channel = 0;
  std::int32_t in_row = 0, in_column = 0, out_row = 0, out_column = 0;  // in: times conv stride
  FastDivisor width, plane, parts, row_groups;
  std::uint32_t images = 0, positions = 0;  // positions: of all sub-batches together
  std::uint32_t row_parts = 0;              // rows of units times parts
  std::int32_t channels = 0, channels_per_group = 0, vector = 0;
  std::int32_t chunk = 0;  // units in one buffer of shared memory, a multiple of kDirectUnroll
  bool has_relu = false;
};

// ---------------------------------------------------------------------------------- device

// The same pointer, but the compiler takes it as it is: it would otherwise add up its parts anew
// for every load.
template <typename T>
__device__ __forceinline__ const T* direct_settle(const T* pointer) {
  asm volatile("" : "+l"(pointer));
  return pointer;
}

// The images of one thread: kSubBatch separate images, or neighbouring lanes of nchw8.
template <typename T, int kSubBatch, bool kPacked>
struct DirectImages;

template <typename T, int kSubBatch>
struct DirectImages<T, kSubBatch, false> {
  const T* base[kSubBatch];

  __device__ __forceinline__ void load(std::uint32_t offset, float (&x)[kSubBatch]) const {
#pragma unroll
    for (int b = 0; b < kSubBatch; ++b) x[b] = widen(__ldg(base[b] + offset));
  }
};

template <int kSubBatch>
struct DirectImages<float, kSubBatch, true> {
  const float* base;

  __device__ __forceinline__ void load(std::uint32_t offset, float (&x)[kSubBatch]) const {
    const auto* lanes = reinterpret_cast<const float4*>(base + offset);
#pragma unroll
    for (int i = 0; i < kSubBatch / 4; ++i) {
      const float4 four = __ldg(lanes + i);
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

  __device__ __forceinline__ void load(std::uint32_t offset, float (&x)[8]) const {
    const uint4 lanes = __ldg(reinterpret_cast<const uint4*>(base + offset));
    widen_two(lanes.x, x[0], x[1]);
    widen_two(lanes.y, x[2], x[3]);
    widen_two(lanes.z, x[4], x[5]);
    widen_two(lanes.w, x[6], x[7]);
  }
};

template <>
struct DirectImages<__half, 4, true> {
  const __half* base;

  __device__ __forceinline__ void load(std::uint32_t offset, float (&x)[4]) const {
    const uint2 lanes = __ldg(reinterpret_cast<const uint2*>(base + offset));
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
    images.base = direct_settle(corner + (place.first_image / kPackedImages) * a.in_image +
                                place.first_image % kPackedImages);
  } else {
#pragma unroll
    for (int b = 0; b < kSubBatch; ++b) {
      images.base[b] =
          direct_settle(corner + min(place.first_image + b, a.images - 1) * a.in_image);
    }
  }
  return images;
}

// Copies `count` units (a multiple of 4) to shared memory, 16 bytes a time.
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

// sums[v * kSubBatch + b] += value[v] x[b] over units [first, last) of a chunk.
template <typename T, int kChannels, int kSubBatch, bool kPacked>
__device__ __forceinline__ void direct_accumulate(const DirectImages<T, kSubBatch, kPacked>& images,
                                                  const float* values, const std::int32_t* offsets,
                                                  int first, int last,
                                                  float (&sums)[kChannels * kSubBatch]) {
  // Units whose inputs are loaded before the first is used: fewer where registers are short.
  constexpr int kAhead = kChannels == 8 && kSubBatch >= 4 && !kPacked ? 2 : kDirectUnroll;
  for (int u = first; u < last; u += kDirectUnroll) {
    const uint4 four = *reinterpret_cast<const uint4*>(offsets + u);
    const std::uint32_t offset[kDirectUnroll] = {four.x, four.y, four.z, four.w};
    float w[kDirectUnroll * kChannels];
#pragma unroll
    for (int i = 0; i < kDirectUnroll * kChannels; i += 4) {
      const float4 part = *reinterpret_cast<const float4*>(values + u * kChannels + i);
      w[i] = part.x, w[i + 1] = part.y, w[i + 2] = part.z, w[i + 3] = part.w;
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

// The part of a row of units that threads of one threadIdx.z work on.
struct DirectRow {
  std::uint32_t value0 = 0;  // index of its first value
  std::uint32_t unit0 = 0;   // and of its first offset
  int units = 0;             // 0 also where there is no row
  int channel0 = 0;          // first output channel
  bool exists = false;
};

template <int kChannels>
__device__ __forceinline__ DirectRow direct_row(const DirectArguments& a, std::uint32_t slot) {
  DirectRow result;
  if (slot >= a.row_parts) return result;
  const int part = static_cast<int>(a.parts.split(slot));
  const int row = __ldg(a.order + slot);
  const int begin = __ldg(a.begin + row);
  const int channel0 = row * a.vector + part * kChannels;
  if (channel0 >= a.channels) return result;  // a last row's unused part
  result.units = __ldg(a.begin + row + 1) - begin;
  result.unit0 = static_cast<std::uint32_t>(begin);
  result.value0 = static_cast<std::uint32_t>(begin * a.vector + part * result.units * kChannels);
  result.channel0 = channel0;
  result.exists = true;
  return result;
}

// The longest row of the block decides how many chunks all of its threads walk.
template <int kChannels>
__device__ __forceinline__ int direct_longest(const DirectArguments& a, std::uint32_t first_slot) {
  int longest = 0;
  for (std::uint32_t z = 0; z < blockDim.z; ++z) {
    longest = max(longest, direct_row<kChannels>(a, first_slot + z).units);
  }
  return longest;
}

// Walks all chunks of the thread's row. `shared` holds two buffers for each row of the block.
template <typename T, int kChannels, int kSubBatch, bool kPacked>
__device__ __forceinline__ void direct_walk(const DirectImages<T, kSubBatch, kPacked>& images,
                                            const DirectArguments& a, const DirectRow& row,
                                            int longest, float* shared,
                                            float (&sums)[kChannels * kSubBatch]) {
  const int chunk = a.chunk;
  shared += threadIdx.z * 2 * chunk * (kChannels + 1);
  std::int32_t* shared_offsets = reinterpret_cast<std::int32_t*>(shared + 2 * chunk * kChannels);
  const auto stage = [&](int first, int buffer) {
    direct_stage<kChannels>(a.values + row.value0 + first * kChannels,
                            a.offsets + row.unit0 + first, min(chunk, row.units - first),
                            shared + buffer * chunk * kChannels, shared_offsets + buffer * chunk);
  };
  stage(0, 0);
  int buffer = 0;
  for (int first = 0; first < longest; first += chunk) {
    if (first + chunk < longest) {
      stage(first + chunk, 1 - buffer);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    const int count = max(0, min(chunk, row.units - first));
    const int fours = (count / kDirectUnroll + blockDim.y - 1) / blockDim.y;
    const int begin = min(count, static_cast<int>(threadIdx.y) * fours * kDirectUnroll);
    const int end = min(count, begin + fours * kDirectUnroll);
    direct_accumulate<T, kChannels, kSubBatch, kPacked>(images, shared + buffer * chunk * kChannels,
                                                        shared_offsets + buffer * chunk, begin, end,
                                                        sums);
    __syncthreads();
    buffer = 1 - buffer;
  }
}

__device__ __forceinline__ float direct_finish(const DirectArguments& a, float sum, int channel) {
  const float result = sum + __ldg(a.bias + channel);
  return a.has_relu && result < 0.0f ? 0.0f : result;  // NaN stays
}

// Stores the kSubBatch outputs of one channel: one vector for nchw8, else image by image.
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

// Adds up the slices' partial sums, slice 0 first. The block has one row, which exists. `shared`
// [slices][kSums][positions].
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
  for (int v = threadIdx.y; v < kChannels; v += blockDim.y) {
    if (!place.is_inside || channel0 + v >= a.channels) continue;
    float results[kSubBatch];
#pragma unroll
    for (int b = 0; b < kSubBatch; ++b) {
      float sum = 0.0f;
      for (int slice = 0; slice < static_cast<int>(blockDim.y); ++slice) {
        sum += shared[(slice * kSums + v * kSubBatch + b) * positions + threadIdx.x];
      }
      results[b] = direct_finish(a, sum, channel0 + v);
    }
    direct_store<T, kSubBatch, kPacked>(a, corner, place, channel0 + v, results);
  }
}

// Blocks per multiprocessor that the registers must allow: partial sums decide.
constexpr int direct_blocks(int sums) {
  return sums >= 64 ? 2 : sums >= 32 ? 3 : 4;
}

// The same number, but the compiler does not know: what is computed from it after the loop is not
// kept in registers during the loop.
__device__ __forceinline__ std::uint32_t direct_forget(std::uint32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}

template <typename T, int kSubBatch, bool kPacked>
__device__ __forceinline__ T* direct_output(const DirectArguments& a, const DirectPlace& place) {
  T* corner = static_cast<T*>(a.output) + std::int64_t{place.y} * a.out_row +
              std::int64_t{place.x} * a.out_column;
  if constexpr (kPacked) {
    return corner + (place.first_image / kPackedImages) * a.out_image +
           place.first_image % kPackedImages;
  } else {
    return corner + place.first_image * a.out_image;
  }
}

template <typename T, int kChannels, int kSubBatch, bool kPacked>
__device__ __forceinline__ void direct_finish_tile(const DirectArguments& a, float* shared,
                                                   const float (&sums)[kChannels * kSubBatch]) {
  std::uint32_t tile = direct_forget(blockIdx.x);
  const std::uint32_t first_slot = a.row_groups.split(tile) * blockDim.z;
  const DirectRow row = direct_row<kChannels>(a, first_slot + threadIdx.z);
  if (!row.exists) return;
  const DirectPlace place = direct_place<kSubBatch, kPacked>(a, tile);
  T* corner = direct_output<T, kSubBatch, kPacked>(a, place);
  if constexpr (kChannels * kSubBatch <= kDirectMaxSlicedSums) {
    if (blockDim.y > 1) {  // then the block has one row, so all of its threads are here
      direct_reduce_and_store<T, kChannels, kSubBatch, kPacked>(a, corner, place, row.channel0,
                                                                shared, sums);
      return;
    }
  }
  if (!place.is_inside) return;
#pragma unroll
  for (int v = 0; v < kChannels; ++v) {
    if (row.channel0 + v >= a.channels) break;
    float results[kSubBatch];
#pragma unroll
    for (int b = 0; b < kSubBatch; ++b) {
      results[b] = direct_finish(a, sums[v * kSubBatch + b], row.channel0 + v);
    }
    direct_store<T, kSubBatch, kPacked>(a, corner, place, row.channel0 + v, results);
  }
}

template <typename T, int kChannels, int kSubBatch, bool kPacked>
__global__ void __launch_bounds__(kDirectMaxThreads, direct_blocks(kChannels* kSubBatch))
    direct_kernel(const DirectArguments a) {
  extern __shared__ __align__(16) float direct_shared[];
  std::uint32_t tile = blockIdx.x;
  const std::uint32_t first_slot = a.row_groups.split(tile) * blockDim.z;
  const DirectRow row = direct_row<kChannels>(a, first_slot + threadIdx.z);
  const DirectPlace place = direct_place<kSubBatch, kPacked>(a, tile);
  const auto images =
      direct_images<T, kSubBatch, kPacked>(a, place, row.channel0 / a.channels_per_group);
  float sums[kChannels * kSubBatch] = {};
  direct_walk<T, kChannels, kSubBatch, kPacked>(
      images, a, row, direct_longest<kChannels>(a, first_slot), direct_shared, sums);
  direct_finish_tile<T, kChannels, kSubBatch, kPacked>(a, direct_shared, sums);
}

// ------------------------------------------------------------------------------------ host

struct DirectLaunch {
  dim3 grid, block;
  cudaStream_t stream = nullptr;
};

template <typename T, int kChannels, int kSubBatch, bool kPacked>
void launch_direct_kernel(const DirectArguments& arguments, const DirectLaunch& launch) {
  const std::size_t staged =
      std::size_t{launch.block.z} * 2 * static_cast<std::size_t>(arguments.chunk) * (kChannels + 1);
  const std::size_t reduced =
      launch.block.y > 1 ? std::size_t{launch.block.x} * launch.block.y * kChannels * kSubBatch : 0;
  const std::size_t bytes = (staged > reduced ? staged : reduced) * sizeof(float);
  direct_kernel<T, kChannels, kSubBatch, kPacked>
      <<<launch.grid, launch.block, bytes, launch.stream>>>(arguments);
  CUDA_CHECK(cudaGetLastError());
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
