// What becomes of the sums of a warp of the gathered convolution with a resident input.
//
// Loads and stores have conditions of their own, bits of a set of pixels, since branches around
// them would cost more than they do.
#pragma once

#include <utility>

#include "runtime/gpu/gathered/fragments.cuh"
#include "runtime/gpu/gathered/resident_arguments.h"
#include "runtime/gpu/gathered/resident_task.cuh"
#include "runtime/gpu/gathered/shared_sums.cuh"

namespace winnow {

template <int kIndex>
class ResidentOutputs {
 public:
  static constexpr ResidentConvForm kForm = kResidentForms[kIndex];
  static constexpr int kPixels = kForm.pixels();
  using Sums = float[kForm.pairs()][2][4];

  __device__ ResidentOutputs(const ResidentArguments& a, std::uint32_t shared)
      : a_(a),
        shared_(shared),
        thread_(this_thread()),
        at_(this_block<kIndex>(a)),
        task_(resident_warp(a.g, at_, thread_ / 32)),
        share_(resident_share(a.g, at_.rank, task_.split)),
        mine_(pixels_of_share(a.pixels_of_first_share, pools(), share_)) {}

  // One share begins with the biases.
  __device__ void begin_sums(Sums& sums) const {
    const bool has_bias = share_ == 0 && exists();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float bias = 0;
      if (has_bias) bias = __uint_as_float(word_of_channel(a_.g.biases_at(), half));
#pragma unroll
      for (int p = 0; p < kForm.pairs(); ++p) {
        for (int i = 0; i < 4; ++i) sums[p][i / 2][2 * half + i % 2] = bias;
      }
    }
  }

  // By all warps of the thread block, and of the cluster.
  __device__ void finish(Sums& sums, int pass) {
    for (int half = 0; half < 2; ++half) {
      place_[half] = exists() ? static_cast<int>(word_of_channel(a_.g.places_at(), half)) : -1;
    }
    if (a_.g.shares() > 1) exchange(sums);
    if (a_.addend != nullptr) add_addend(sums, pass);
    pools() ? store_squares(sums, pass) : store_pixels(sums, pass);
  }

 private:
  __device__ static constexpr ResidentConvForm form() {
    return kResidentForms[kIndex];
  }
  __device__ bool pools() const {
    return a_.pool != RingPool::none;
  }
  __device__ bool exists() const {
    return task_.group < a_.g.all_groups;
  }
  // The word of the lane's channel `half`, of its two, in a table of the thread block's channels.
  __device__ std::uint32_t word_of_channel(int table, int half) const {
    const int group = task_.group - at_.group_block * a_.g.groups;
    const int channel = group * kGroupChannels + thread_ % 32 / 4 + 8 * half;
    std::uint32_t word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(shared_ + table + channel * 4));
    return word;
  }

  // Where the warp that is `ahead` warps further keeps its sums of the first pixel.
  __device__ std::uint32_t slots(int ahead) const {
    const int warp = thread_ / 32 + ahead;
    return shared_ + (warp * kPixels * 32 + thread_ % 32) * kRowBytes;
  }
  __device__ static constexpr std::uint32_t slot(int u) {
    return static_cast<std::uint32_t>(u * 32) * kRowBytes;
  }

  // Every warp writes the sums that it does not finish itself to shared memory, and adds those of
  // others to its own, always in the same order.
  __device__ void exchange(Sums& sums) {
    const std::uint32_t others = ~computed_here(mine_), to = slots(0);
    __syncthreads();  // the input is not read any more
#pragma unroll
    for (int u = 0; u < kPixels; ++u) {
      write_shared_if((others & 1u << u) != 0, to + slot(u), sum_of(sums, u));
    }
    a_.g.cluster > 1 ? meet_in_cluster() : __syncthreads();
#pragma unroll 1
    for (int step = 1; step < a_.g.shares(); ++step) {
      const int other = (share_ + step) & (a_.g.shares() - 1);
      const std::uint32_t at = slots((other & (a_.g.split - 1)) - task_.split);
      const std::uint32_t rank = static_cast<std::uint32_t>(other >> a_.g.split_bits);
      a_.g.cluster > 1 ? add<true>(sums, address_in(at, rank)) : add<false>(sums, at);
    }
  }
  template <bool kInCluster>
  __device__ void add(Sums& sums, std::uint32_t at) {
    const std::uint32_t mine = computed_here(mine_);
#pragma unroll
    for (int u = 0; u < kPixels; ++u) {
      add_shared_if<kInCluster>((mine & 1u << u) != 0, sum_of(sums, u), at + slot(u));
    }
  }

  __device__ static float (&sum_of(Sums& sums, int u))[4] {
    const PixelOfPair pixel = pixel_of_square(form(), u / 4, u % 4);
    return sums[pixel.pair][pixel.second];
  }

  __device__ ResidentPixel origin(int pass) const {
    return output_pixel(form(), at_, task_.part, computed_here(pass), {0, 0, 0});
  }
  __device__ static ResidentPixel pixel_of(int u) {
    const PixelOfPair which = pixel_of_square(form(), u / 4, u % 4);
    return pixel_of_pair(form(), which.pair, which.second);
  }
  // Two images of the lane in the warp's first pixel, at channel `half` of its two.
  __device__ std::int64_t first_element(const ResidentPixel& pixel, int half, int height,
                                        int width) const {
    return output_row(a_.g, pixel, place_[half], height, width) * kGatheredImages + thread_ % 4 * 2;
  }
  __device__ std::int64_t elements_to(const ResidentPixel& pixel, int height, int width) const {
    return output_step(a_.g, pixel, height, width) * kGatheredImages;
  }

  // Those of kCount coordinates along an axis that are less than `end`.
  template <bool kPools, ResidentAxis kAxis, int... kAt>
  __device__ static std::uint32_t pixels_before(int end, std::integer_sequence<int, kAt...>) {
    std::uint32_t pixels = 0;
    ((pixels |=
      kAt < end ? std::integral_constant<std::uint32_t, pixels_at(kForm, kPools, kAxis, kAt)>::value
                : 0),
     ...);
    return pixels;
  }
  // Those of the warp's own pixels that lie in a map of so many lines and columns.
  template <bool kPools>
  __device__ std::uint32_t written(const ResidentPixel& first, int height, int width) const {
    constexpr int kBy = kPools ? 2 : 1;
    using Images = std::make_integer_sequence<int, kForm.images>;
    using Lines = std::make_integer_sequence<int, (kForm.height + kBy - 1) / kBy>;
    using Columns = std::make_integer_sequence<int, kForm.width / kBy>;
    return mine_ &
           pixels_before<kPools, ResidentAxis::image>(a_.g.image_blocks - first.image, Images()) &
           pixels_before<kPools, ResidentAxis::y>(height - first.y, Lines()) &
           pixels_before<kPools, ResidentAxis::x>(width - first.x, Columns());
  }
  // None where the lane has no channel.
  __device__ std::uint32_t of_half(std::uint32_t pixels, int half) const {
    return place_[half] >= 0 ? pixels : 0;
  }

  __device__ void add_addend(Sums& sums, int pass) {
    const ResidentPixel first = origin(pass);
    const int height = computed_here(a_.g.height), width = computed_here(a_.g.width);
    const std::uint32_t pixels = written<false>(first, height, width);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const __half* from = a_.addend + first_element(first, half, height, width);
      const std::uint32_t inside = of_half(pixels, half);
#pragma unroll
      for (int u = 0; u < kPixels; ++u) {
        const float2 added =
            load_images_if((inside & 1u << u) != 0, from + elements_to(pixel_of(u), height, width));
        sum_of(sums, u)[2 * half] += added.x;
        sum_of(sums, u)[2 * half + 1] += added.y;
      }
    }
  }

  __device__ float value_of(Sums& sums, int u, int k) const {
    return at_least(sum_of(sums, u)[k], a_.least);
  }

  __device__ void store_pixels(Sums& sums, int pass) {
    const ResidentPixel first = origin(pass);
    const int height = computed_here(a_.g.height), width = computed_here(a_.g.width);
    const std::uint32_t pixels = written<false>(first, height, width);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      __half* to = a_.out + first_element(first, half, height, width);
      const std::uint32_t inside = of_half(pixels, half);
#pragma unroll
      for (int u = 0; u < kPixels; ++u) {
        store_images_if((inside & 1u << u) != 0, to + elements_to(pixel_of(u), height, width),
                        value_of(sums, u, 2 * half), value_of(sums, u, 2 * half + 1));
      }
    }
  }

  // The largest of each square, or their average.
  __device__ void store_squares(Sums& sums, int pass) {
    const ResidentPixel first = pooled_pixel(origin(pass));
    const int height = computed_here(a_.g.height) / 2, width = computed_here(a_.g.width) / 2;
    const std::uint32_t pixels = written<true>(first, height, width);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      __half* to = a_.out + first_element(first, half, height, width);
      const std::uint32_t inside = of_half(pixels, half);
#pragma unroll
      for (int u = 0; u < kPixels; u += 4) {
        store_images_if((inside & 1u << u) != 0,
                        to + elements_to(pooled_pixel(pixel_of(u)), height, width),
                        pooled_value(sums, u, 2 * half), pooled_value(sums, u, 2 * half + 1));
      }
    }
  }
  __device__ float pooled_value(Sums& sums, int first, int k) const {
    float values[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) values[i] = value_of(sums, first + i, k);
    return pooled(values, a_.pool == RingPool::average);
  }

  const ResidentArguments& a_;
  std::uint32_t shared_;
  int thread_;
  ResidentBlock at_;
  ResidentWarp task_;
  int share_;
  std::uint32_t mine_;  // pixels that this warp finishes
  int place_[2];
};

}  // namespace winnow
