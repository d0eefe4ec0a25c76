// The gathered convolution with a resident input (resident_tile.h, resident_weights.h).
//
// A thread block copies all input that it reads to shared memory, stage by stage; its warps begin
// with the batches whose stages have arrived. ldmatrix gathers 16 rows, one for each column of a
// batch, at two pixels, mma multiplies them with the 16 x 16 weights of the batch. A batch is done
// in two halves, so that the rows of one are loaded under the products of the other. Registers hold
// the weights of kDepth batches, loaded ahead, the first ones before the launch before has ended.
#pragma once

#include "runtime/device/overlap.cuh"
#include "runtime/gpu/gathered/fragments.cuh"
#include "runtime/gpu/gathered/resident_arguments.h"
#include "runtime/gpu/gathered/resident_loader.cuh"

namespace winnow {

// One warp.
template <int kIndex>
class ResidentConsumer {
 public:
  __device__ ResidentConsumer(const ResidentArguments& a, const ResidentBlock& at,
                              std::uint32_t shared, std::uint32_t barriers)
      : a_(a),
        at_(at),
        task_(resident_warp(a.g, at, static_cast<int>(threadIdx.x) / 32)),
        shared_(shared),
        barriers_(barriers),
        lane_(static_cast<int>(threadIdx.x) % 32) {}

  // Begins to load weights, which no launch before has written.
  __device__ void begin() {
    const bool exists = task_.group < a_.g.all_groups;
    const int group = exists ? task_.group : 0;
    const int stream = resident_stream(a_.g, group, resident_share(a_.g, at_.rank, task_.split));
    record_ = a_.records + std::int64_t{stream} * a_.capacity * kRecord;
    code_offset_ = kFragmentBytes + (form().is_map ? lane_ * 4 : lane_ % 16 * 2);
    fetch_first();
    head_ = __ldg(a_.heads + stream);
    if (!exists) head_.w = 0;
    const int row = group * kGroupChannels + lane_ / 4;
    bias_[0] = __ldg(a_.bias + row);
    bias_[1] = __ldg(a_.bias + row + 8);
    place_[0] = exists ? __ldg(a_.place + row) : -1;
    place_[1] = exists ? __ldg(a_.place + row + 8) : -1;
  }

  // All passes; called by all warps of the thread block, also by those without a group.
  __device__ void run() {
#pragma unroll 1
    for (int pass = 0; pass < a_.g.passes; ++pass) {
      if (pass > 0) {
        fetch_first();
        wait_for(barriers_ + (a_.g.stages + pass - 1) * 8, 0);
      }
      clear();
      multiply_all(pass);
      if (a_.g.shares() > 1) exchange();
      if (a_.addend != nullptr) add_addend(pass);
      pools() ? store_squares(pass) : store_pixels(pass);
    }
    if (a_.g.cluster > 1) {  // others may still read sums of this thread block
      __syncwarp();
      meet_in_cluster();
    }
  }

 private:
  __device__ static constexpr ResidentConvForm form() {
    return kResidentForms[kIndex];
  }
  static constexpr ResidentConvForm kForm = kResidentForms[kIndex];
  static constexpr int kPairs = kForm.pairs(), kPixels = kForm.pixels(), kDepth = kForm.depth;
  static constexpr int kWidth = kForm.pair_width();
  static constexpr int kRecord = static_cast<int>(resident_record_bytes(kForm.is_map));

  // Where a batch reads: the address of the first pair of each set, and columns of pixels that it
  // leaves out.
  struct Batch {
    std::uint32_t address[2];
    bool skips[4];
  };

  __device__ void fetch(int j, int batch) {
    const std::byte* record = record_ + batch * kRecord;
    weights_[j] = __ldg(reinterpret_cast<const uint4*>(record + lane_ * 16));
    const std::byte* code = record + code_offset_;
    codes_[j] = kForm.is_map ? __ldg(reinterpret_cast<const std::uint32_t*>(code))
                             : __ldg(reinterpret_cast<const std::uint16_t*>(code));
  }
  __device__ void fetch_first() {
#pragma unroll
    for (int j = 0; j < kDepth; ++j) fetch(j, j);
  }

  __device__ void clear() {
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
#pragma unroll
      for (int i = 0; i < 8; ++i) sum_[p][i / 4][i % 4] = 0;
    }
  }

  __device__ Batch decode(std::uint32_t code) const {
    Batch batch;
    if constexpr (kForm.is_map) {
      batch.address[0] = shared_ + row_of_set(code, 0) * kRowBytes;
      batch.address[1] = shared_ + row_of_set(code, 1) * kRowBytes;
#pragma unroll
      for (int x = 0; x < kWidth; ++x) {
        if (may_skip(x)) batch.skips[x] = __any_sync(~0u, skips_column(code, x));
      }
    } else {
      batch.address[0] = base_ + code * kRowBytes;
    }
    return batch;
  }

  // The pairs of a half are chosen so that both are of use where a side of the map is left out: by
  // their columns of pixels, x.
  __device__ static constexpr int half_of(int x) {
    if (!kForm.is_map) return x >= kWidth / 2 ? 1 : 0;
    return kWidth == 4 ? (x == 0 || x == 3 ? 1 : 0) : x;
  }
  __device__ static constexpr bool may_skip(int x) {
    return may_skip_column(form(), x);
  }

  template <int kHalf>
  __device__ void load(const Batch& batch) {
#pragma unroll
    for (int x = 0; x < kWidth; ++x) {
      if (half_of(x) != kHalf || (may_skip(x) && batch.skips[x % 4])) continue;
#pragma unroll
      for (int p = x; p < kPairs; p += kWidth) {
        const std::uint32_t step = pair_row(form(), a_.g, p) * kRowBytes;
        load_matrices(rows_[p], batch.address[kForm.is_map ? p / kWidth : 0] + step);
      }
    }
  }
  template <int kHalf>
  __device__ void multiply_half(const Batch& batch, const uint4& weights) {
#pragma unroll
    for (int x = 0; x < kWidth; ++x) {
      if (half_of(x) != kHalf || (may_skip(x) && batch.skips[x % 4])) continue;
#pragma unroll
      for (int p = x; p < kPairs; p += kWidth) {
        multiply(sum_[p][0], weights, rows_[p].word[0], rows_[p].word[1]);
        multiply(sum_[p][1], weights, rows_[p].word[2], rows_[p].word[3]);
      }
    }
  }

  // Waits for the stages that batch b needs.
  __device__ void need(int b) {
    while (b >= until_ && stage_ < a_.g.stages - 1) {
      ++stage_;
      wait_for(barriers_ + stage_ * 8, 0);
      until_ = stage_ == a_.g.stages - 1 ? 0x7fffffff
                                         : (stage_ == 0   ? head_.x
                                            : stage_ == 1 ? head_.y
                                                          : head_.z);
    }
  }

  __device__ void multiply_all(int pass) {
    base_ = shared_ + strip_row(form(), a_.g, task_.part, pass, lane_ / kBatchColumns) * kRowBytes;
    stage_ = -1;
    until_ = -1;
    const int batches = head_.w;
    if (batches > 0) {
      need(0);
      Batch now = decode(codes_[0]);
      load<0>(now);
#pragma unroll 1
      for (int b = 0; b < batches; b += kDepth) {
#pragma unroll
        for (int j = 0; j < kDepth; ++j) {
          multiply_batch(b + j, j, now);
          if (b + j + 1 >= batches) break;
        }
      }
    }
    // No copy may be under way when shared memory is used again or the thread block ends.
    for (stage_ = stage_ < 0 ? 0 : stage_; stage_ < a_.g.stages; ++stage_) {
      wait_for(barriers_ + stage_ * 8, 0);
    }
  }

  // Batch b, which registers j have; `now` becomes the batch after it. Beyond the last batch there
  // are others' records or zeros: their rows are loaded and not multiplied.
  __device__ void multiply_batch(int b, int j, Batch& now) {
    load<1>(now);
    const Batch next = decode(codes_[(j + 1) % kDepth]);
    multiply_half<0>(now, weights_[j]);
    if (b + 1 >= until_) need(b + 1);
    load<0>(next);
    multiply_half<1>(now, weights_[j]);
    fetch(j, b + kDepth);
    now = next;
  }

  // Sums of other shares -----------------------------------------------------------------------

  __device__ int share() const {
    return resident_share(a_.g, at_.rank, task_.split);
  }

  // Where the warp that is `ahead` warps further keeps its sums of pixel `i` of square `q`.
  __device__ std::uint32_t slot(int ahead, int q, int i) const {
    const int warp = static_cast<int>(threadIdx.x) / 32 + ahead;
    return shared_ + ((warp * kPixels + 4 * q + i) * 32 + lane_) * kRowBytes;
  }

  // Every warp writes the sums that it does not finish itself to shared memory, and adds those of
  // others to its own, always in the same order.
  __device__ void exchange() {
    __syncthreads();  // the input is not read any more
#pragma unroll
    for (int u = 0; u < kPixels; ++u) {
      if (owner_of_pixel(a_.g, pools(), u / 4, u % 4) == share()) continue;
      write_shared(slot(0, u / 4, u % 4), sum_of(u / 4, u % 4));
    }
    a_.g.cluster > 1 ? meet_in_cluster() : __syncthreads();
#pragma unroll
    for (int u = 0; u < kPixels; ++u) {
      if (owner_of_pixel(a_.g, pools(), u / 4, u % 4) == share()) add_others(u / 4, u % 4);
    }
  }

  __device__ float (&sum_of(int q, int i))[4] {
    const PixelOfPair pixel = pixel_of_square(form(), q, i);
    return sum_[pixel.pair][pixel.second];
  }

  __device__ void add_others(int q, int i) {
    float(&sum)[4] = sum_of(q, i);
    const int split_bits = 31 - __clz(a_.g.split);
#pragma unroll 1
    for (int step = 1; step < a_.g.shares(); ++step) {
      const int other = (share() + step) & (a_.g.shares() - 1);
      const std::uint32_t at = slot((other & (a_.g.split - 1)) - task_.split, q, i);
      const float4 value = a_.g.cluster > 1
                               ? load_four_in_cluster(address_in(at, other >> split_bits))
                               : read_shared(at);
      sum[0] += value.x;
      sum[1] += value.y;
      sum[2] += value.z;
      sum[3] += value.w;
    }
  }

  __device__ static void write_shared(std::uint32_t to, const float (&value)[4]) {
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(value[0]), "f"(value[1]),
                 "f"(value[2]), "f"(value[3])
                 : "memory");
  }
  __device__ static float4 read_shared(std::uint32_t from) {
    float4 value;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "r"(from)
                 : "memory");
    return value;
  }
  // Outputs ------------------------------------------------------------------------------------

  __device__ bool pools() const {
    return a_.pool != RingPool::none;
  }
  __device__ bool owns(int q, int i) const {
    return owner_of_pixel(a_.g, pools(), q, i) == share();
  }
  __device__ ResidentPixel origin(int pass) const {
    return output_pixel(form(), at_, task_.part, pass, {0, 0, 0});
  }
  // Two images of the lane in the warp's first pixel, at channel `half` of its two.
  __device__ std::int64_t first_element(const ResidentPixel& pixel, int half, int height,
                                        int width) const {
    return output_row(a_.g, pixel, place_[half], height, width) * kGatheredImages + lane_ % 4 * 2;
  }
  // Whether the warp writes pixel `i` of square `q`, which is `step` away from its first one.
  __device__ bool writes(const ResidentPixel& first, const ResidentPixel& step, int half, int q,
                         int i, int height, int width) const {
    return place_[half] >= 0 && owns(q, i) && has_pixel(a_.g, first, step, height, width);
  }
  __device__ static ResidentPixel pixel_of(int q, int i) {
    const PixelOfPair which = pixel_of_square(form(), q, i);
    return pixel_of_pair(form(), which.pair, which.second);
  }

  // Loads and stores have conditions of their own, since branches around them would cost more than
  // they do.
  __device__ void add_addend(int pass) {
    const ResidentPixel first = origin(pass);
    const int height = a_.g.height, width = a_.g.width;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const __half* from = a_.addend + first_element(first, half, height, width);
#pragma unroll
      for (int u = 0; u < kPixels; ++u) {
        const int q = u / 4, i = u % 4;
        const ResidentPixel pixel = pixel_of(q, i);
        const bool is_inside = writes(first, pixel, half, q, i, height, width);
        const float2 added = load_images_if(
            is_inside, from + output_step(a_.g, pixel, height, width) * kGatheredImages);
        sum_of(q, i)[2 * half] += added.x;
        sum_of(q, i)[2 * half + 1] += added.y;
      }
    }
  }

  __device__ float value_of(int q, int i, int half, int image) {
    return at_least(sum_of(q, i)[2 * half + image] + bias_[half], a_.least);
  }

  __device__ void store_pixels(int pass) {
    const ResidentPixel first = origin(pass);
    const int height = a_.g.height, width = a_.g.width;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      __half* to = a_.out + first_element(first, half, height, width);
#pragma unroll
      for (int u = 0; u < kPixels; ++u) {
        const int q = u / 4, i = u % 4;
        const ResidentPixel pixel = pixel_of(q, i);
        const bool is_inside = writes(first, pixel, half, q, i, height, width);
        store_images_if(is_inside, to + output_step(a_.g, pixel, height, width) * kGatheredImages,
                        value_of(q, i, half, 0), value_of(q, i, half, 1));
      }
    }
  }

  // The largest of each square, or their average.
  __device__ void store_squares(int pass) {
    const ResidentPixel first = pooled_pixel(origin(pass));
    const int height = a_.g.height / 2, width = a_.g.width / 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      __half* to = a_.out + first_element(first, half, height, width);
#pragma unroll
      for (int q = 0; q < kPixels / 4; ++q) {
        const ResidentPixel pixel = pooled_pixel(pixel_of(q, 0));
        const bool is_inside = writes(first, pixel, half, q, 0, height, width);
        store_images_if(is_inside, to + output_step(a_.g, pixel, height, width) * kGatheredImages,
                        pooled_value(q, half, 0), pooled_value(q, half, 1));
      }
    }
  }
  __device__ float pooled_value(int q, int half, int image) {
    float values[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) values[i] = value_of(q, i, half, image);
    if (a_.pool == RingPool::average) return (values[0] + values[1] + values[2] + values[3]) / 4;
    return at_least(at_least(values[0], values[1]), at_least(values[2], values[3]));
  }

  const ResidentArguments& a_;
  ResidentBlock at_;
  ResidentWarp task_;
  std::uint32_t shared_, barriers_;
  int lane_;
  const std::byte* record_ = nullptr;
  int code_offset_ = 0, stage_ = -1, until_ = -1;
  int4 head_;
  std::uint32_t base_ = 0;
  float bias_[2];
  int place_[2];
  uint4 weights_[kDepth];
  std::uint32_t codes_[kDepth];
  Fragment rows_[kPairs];
  float sum_[kPairs][2][4];
};

template <int kIndex>
__global__ void __launch_bounds__(kResidentForms[kIndex].warps * 32, 1)
    resident_conv_kernel(const __grid_constant__ ResidentArguments a) {
  extern __shared__ __align__(128) uint4 resident_input[];
  constexpr ResidentConvForm form = kResidentForms[kIndex];
  const ResidentBlock at = resident_block(form, a.g, static_cast<int>(blockIdx.x));
  const std::uint32_t shared = shared_address(resident_input);
  const std::uint32_t barriers = shared + a.g.shared_rows * kRowBytes;
  ResidentLoader<kIndex> loader(a, at, resident_input, barriers);
  ResidentConsumer<kIndex> consumer(a, at, shared, barriers);
  begin_next_launch();
  consumer.begin();
  loader.prepare();
  if (threadIdx.x == blockDim.x - 1) loader.init_barriers();
  __syncthreads();
  wait_for_launch_before();
  loader.copy();
  loader.write_zeros();
  __syncthreads();
  consumer.run();
}

}  // namespace winnow
