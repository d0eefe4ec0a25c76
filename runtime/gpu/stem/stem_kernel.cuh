// The stem convolution (stem_tile.h, stem_weights.h).
//
// All warps put the box into shared memory, where padding and images beyond the last are zeros.
// Then each takes runs of neighbouring pixels, two of them to a pair: ldmatrix gathers the rows of
// 16 taps at both, mma multiplies them with the weights of 32 output channels. The eight columns of
// such rows are images; they are the columns of the products for nchw32c8n and, transposed by
// ldmatrix all the same, rows of them for nhwc. Either way a lane's sums lie beside each other in
// the output: a warp writes 128 bytes at a time, or each lane 16.
#pragma once

#include <cuda_fp16.h>

#include "runtime/device/cluster.cuh"
#include "runtime/device/overlap.cuh"
#include "runtime/gpu/gathered/fragments.cuh"
#include "runtime/gpu/layer/indexing.cuh"
#include "runtime/gpu/layer/octet.cuh"
#include "runtime/gpu/stem/stem_index.h"
#include "runtime/gpu/stem/stem_weights.h"

namespace winnow {

inline constexpr int kStemThreads = kStemWarps * 32;

struct StemArguments {
  StemGeometry g;
  FastDivisor box_width, box_height;
  const void* in;  // [N, C, H, W] floats or bytes
  const __half* byte_values;
  const uint4* weights;  // [chunks, batches, 2, 32]
  const std::uint32_t* offsets;
  const float* bias;
  __half* out;
  float least;      // of an output: 0 with relu
  bool is_aligned;  // whether octets of nhwc can be written as a whole
};

// What a kernel is compiled for.
template <StemOutput kOutputOf, int kBatchesOf>
struct StemForm {
  static constexpr StemOutput kOutput = kOutputOf;
  static constexpr int kBatches = kBatchesOf;  // whose weights stay in registers; 0: any, fetched
  // Fetched weights are used for more pixels at a time.
  static constexpr int kPairs = kBatches > 0 ? 2 : 4;
  static constexpr int kPixels = kPairs * 2;
  static constexpr int kBlocks = kBatches > 0 ? 3 : 2;  // of an SM
};

// The value of an input element in half precision.
__device__ __forceinline__ __half stem_value(const StemArguments&, int, float element) {
  return __float2half_rn(element);
}
__device__ __forceinline__ __half stem_value(const StemArguments& a, int channel,
                                             std::uint8_t element) {
  return __ldg(a.byte_values + channel * 256 + element);
}

// One row of the box: a channel's pixel of eight images. What is not there is loaded from the
// nearest pixel and image that are and then dropped: without branches all loads are under way
// together.
template <typename In>
__device__ __forceinline__ uint4 stem_row_of(const StemArguments& a, int octet, int channel,
                                             const StemPixel& pixel) {
  const StemGeometry& g = a.g;
  const int images = g.images - octet * kGatheredImages;
  const std::int64_t plane = std::int64_t{g.height} * g.width, image = g.channels * plane;
  const int y = min(max(pixel.y, 0), g.height - 1), x = min(max(pixel.x, 0), g.width - 1);
  const In* from = static_cast<const In*>(a.in) + octet * kGatheredImages * image +
                   channel * plane + std::int64_t{y} * g.width + x;
  In elements[kGatheredImages];
#pragma unroll
  for (int i = 0; i < kGatheredImages; ++i) {
    elements[i] = *from;
    from += i + 1 < images ? image : 0;
  }
  const int there = is_in_input(g, pixel) ? images : 0;
  __half row[kGatheredImages];
#pragma unroll
  for (int i = 0; i < kGatheredImages; ++i) {
    const __half value = stem_value(a, channel, elements[i]);
    row[i] = i < there ? value : __ushort_as_half(0);
  }
  const auto pair = [&](int i) {
    const __half2 two = __halves2half2(row[i], row[i + 1]);
    return *reinterpret_cast<const std::uint32_t*>(&two);
  };
  return make_uint4(pair(0), pair(2), pair(4), pair(6));
}

// Neighbouring threads have neighbouring pixels: a warp reads runs of 128 bytes of each image.
template <typename In>
__device__ void load_stem_box(const StemArguments& a, const StemTileAt& at, uint4* shared) {
  const StemGeometry& g = a.g;
  const int rows = g.channels * g.box_height * g.box_width;
#pragma unroll 2
  for (int i = static_cast<int>(threadIdx.x); i < rows; i += kStemThreads) {
    auto rest = static_cast<std::uint32_t>(i);
    const int x = static_cast<int>(a.box_width.split(rest));
    const int y = static_cast<int>(a.box_height.split(rest));
    const int channel = static_cast<int>(rest);
    shared[stem_row(g, channel, y, x)] =
        stem_row_of<In>(a, at.octet, channel, stem_input_pixel(g, at, y, x));
  }
}

template <class Form>
class StemWarp {
 public:
  __device__ StemWarp(const StemArguments& a, const StemTileAt& at, std::uint32_t shared)
      : a_(a),
        at_(at),
        lane_(static_cast<int>(threadIdx.x) % 32),
        units_(a.g.tile_height * a.g.tile_width / kPixels),
        share_(stem_share(units_, static_cast<int>(threadIdx.x) / 32)),
        shared_(shared + static_cast<std::uint32_t>(lane_ / 16 * a.g.stride_x * kRowBytes)) {}

  // What no kernel writes.
  __device__ void begin() {
    if constexpr (kBatches > 0) {
#pragma unroll
      for (int b = 0; b < kBatches; ++b) offset_[b] = load_offset(b);
    }
    load_chunk(share_.chunk);
  }

  __device__ void run() {
    const StemGeometry& g = a_.g;
#pragma unroll 1
    for (int chunk = share_.chunk; chunk < g.chunks; chunk += share_.chunk_step) {
      if (chunk != share_.chunk) load_chunk(chunk);
#pragma unroll 1
      for (int unit = share_.unit; unit < units_; unit += share_.unit_step) {
        const StemPixel pixel = stem_unit(g, unit, kPixels);
        if (at_.y + pixel.y >= g.out_height || at_.x + pixel.x >= g.out_width) continue;
        compute(chunk, shared_ + static_cast<std::uint32_t>(stem_pixel_row(g, pixel) * kRowBytes));
        store(chunk, pixel);
        __syncwarp();  // lanes without an image or channel store nothing
      }
    }
  }

 private:
  static constexpr int kBatches = Form::kBatches, kPairs = Form::kPairs, kPixels = Form::kPixels;
  static constexpr bool kIsNhwc = Form::kOutput == StemOutput::channels;

  __device__ std::uint32_t load_offset(int batch) const {
    return __ldg(a_.offsets + batch * kBatchColumns + lane_ % kBatchColumns);
  }
  __device__ void load_weights(uint4 (&to)[2], int chunk, int batch) const {
    const uint4* from = a_.weights + (chunk * a_.g.batches + batch) * 64 + lane_;
    to[0] = __ldg(from);
    to[1] = __ldg(from + 32);
  }
  __device__ void load_chunk(int chunk) {
    if (chunk >= a_.g.chunks) return;
    if constexpr (kBatches > 0) {
#pragma unroll
      for (int b = 0; b < kBatches; ++b) load_weights(weights_[b], chunk, b);
    }
  }

  // sum_[p][i] is, for images, of pixel i / 2 of the pair and channels i % 2 * 16 to 15 further;
  // for channels of both pixels and, of every eight channels, 2 i and the next one.
  __device__ void begin_sums(int chunk) {
    float bias[kIsNhwc ? 8 : 4];
    const float* from = a_.bias + chunk * kStemChunk;
    if constexpr (kIsNhwc) {
      const auto* four = reinterpret_cast<const float4*>(from + lane_ % 4 * 8);
      const float4 low = __ldg(four), high = __ldg(four + 1);
      const float all[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (int i = 0; i < 8; ++i) bias[i] = all[i];
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) bias[i] = __ldg(from + lane_ / 4 + i * 8);
    }
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          sum_[p][i][k] = kIsNhwc ? bias[2 * i + k % 2] : bias[i % 2 * 2 + k / 2];
        }
      }
    }
  }

  __device__ void multiply_batch(std::uint32_t address, const uint4 (&weights)[2]) {
    const auto pair_bytes = static_cast<std::uint32_t>(2 * a_.g.stride_x * kRowBytes);
    Fragment rows[kPairs];
#pragma unroll
    for (int p = 0; p < kPairs; ++p) load_matrices(rows[p], address + p * pair_bytes);
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
      const std::uint32_t(&word)[4] = rows[p].word;
      if constexpr (kIsNhwc) {
        const uint4 pixels = make_uint4(word[0], word[2], word[1], word[3]);
        multiply(sum_[p][0], pixels, weights[0].x, weights[0].y);
        multiply(sum_[p][1], pixels, weights[0].z, weights[0].w);
        multiply(sum_[p][2], pixels, weights[1].x, weights[1].y);
        multiply(sum_[p][3], pixels, weights[1].z, weights[1].w);
      } else {
        multiply(sum_[p][0], weights[0], word[0], word[1]);
        multiply(sum_[p][1], weights[1], word[0], word[1]);
        multiply(sum_[p][2], weights[0], word[2], word[3]);
        multiply(sum_[p][3], weights[1], word[2], word[3]);
      }
    }
  }

  __device__ void compute(int chunk, std::uint32_t address) {
    begin_sums(chunk);
    if constexpr (kBatches > 0) {
#pragma unroll
      for (int b = 0; b < kBatches; ++b) multiply_batch(address + offset_[b], weights_[b]);
    } else {
      uint4 next[2];
      load_weights(next, chunk, 0);
      std::uint32_t next_offset = load_offset(0);
#pragma unroll 2
      for (int b = 0; b < a_.g.batches; ++b) {
        const uint4 weights[2] = {next[0], next[1]};
        const std::uint32_t offset = next_offset;
        const int ahead = b + 1 < a_.g.batches ? b + 1 : b;
        load_weights(next, chunk, ahead);
        next_offset = load_offset(ahead);
        multiply_batch(address + offset, weights);
      }
    }
  }

  __device__ void store(int chunk, const StemPixel& pixel) const {
    __half* const to = a_.out + stem_output(a_.g, at_, pixel, chunk);
    const int pixels = min(kPixels, a_.g.out_width - at_.x - pixel.x);
    const int channels = a_.g.out_channels - chunk * kStemChunk;
    if constexpr (kIsNhwc) {
      store_channels(to, pixels, channels - lane_ % 4 * 8);
    } else {
      store_images_of(to, pixels, channels - lane_ / 4);
    }
  }

  // 128 bytes of eight channels at a time.
  __device__ void store_images_of(__half* to, int pixels, int channels) const {
    to += lane_ / 4 * kGatheredImages + lane_ % 4 * 2;
#pragma unroll
    for (int x = 0; x < kPixels; ++x) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float(&sum)[4] = sum_[x / 2][x % 2 * 2 + i / 2];
        store_images_if(x < pixels && i * 8 < channels,
                        to + x * kStemChunk * kGatheredImages + i * 8 * kGatheredImages,
                        at_least(sum[i % 2 * 2], a_.least), at_least(sum[i % 2 * 2 + 1], a_.least));
      }
    }
  }

  // Eight channels of a pixel of the lane's image.
  __device__ void store_channels(__half* to, int pixels, int channels) const {
    const int image = lane_ / 4;
    if (channels <= 0 || at_.octet * kGatheredImages + image >= a_.g.images) return;
    to += image * a_.g.out_image + lane_ % 4 * 8;
#pragma unroll
    for (int x = 0; x < kPixels; ++x) {
      if (x >= pixels) break;
      Octet octet;
#pragma unroll
      for (int i = 0; i < kOctet; ++i) {
        octet.lane[i] = at_least(sum_[x / 2][i / 2][x % 2 * 2 + i % 2], a_.least);
      }
      store_octet(to + x * a_.g.out_column, octet, channels, a_.is_aligned);
    }
  }

  const StemArguments& a_;
  StemTileAt at_;
  int lane_, units_;
  StemShare share_;
  std::uint32_t shared_;  // of the pixel of a pair that this lane gives addresses for
  std::uint32_t offset_[kBatches > 0 ? kBatches : 1];
  uint4 weights_[kBatches > 0 ? kBatches : 1][2];
  float sum_[kPairs][4][4];
};

template <class Form, typename In>
__global__ void __launch_bounds__(kStemThreads, Form::kBlocks)
    stem_kernel(const __grid_constant__ StemArguments a) {
  extern __shared__ __align__(128) uint4 stem_rows[];
  const StemTileAt at = stem_tile_at(a.g, static_cast<int>(blockIdx.x));
  StemWarp<Form> warp(a, at, shared_address(stem_rows));
  begin_next_launch();
  warp.begin();
  wait_for_launch_before();
  load_stem_box<In>(a, at, stem_rows);
  __syncthreads();
  warp.run();
}

}  // namespace winnow
