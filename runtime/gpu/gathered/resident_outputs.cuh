// What becomes of the sums of a warp of the gathered convolution with a resident input.
//
// A warp finishes all pixels of its own, or its part of those of the warps that share a group:
// every kShares-th pixel, or square of 2 x 2 pixels where they are pooled. Loads and stores have
// conditions of their own, since branches around them would cost more than they do.
#pragma once

#include "runtime/gpu/gathered/fragments.cuh"
#include "runtime/gpu/gathered/resident_arguments.h"
#include "runtime/gpu/gathered/resident_task.cuh"
#include "runtime/gpu/gathered/shared_sums.cuh"

namespace winnow {

// The two output channels of a lane; those that do not exist have a negative place.
struct ResidentChannels {
  float bias[2];
  int place[2];
};

template <int kIndex>
using ResidentSums = float[kResidentForms[kIndex].pairs()][2][4];

template <int kIndex, int kShares, bool kPools>
class ResidentOutputs {
 public:
  static constexpr ResidentConvForm kForm = kResidentForms[kIndex];
  // Pixels that are finished together, how many such units there are, and how many are the warp's.
  static constexpr int kUnit = kPools ? 4 : 1, kUnits = kForm.pixels() / kUnit;
  static constexpr int kOwn = kShares < kUnits ? kUnits / kShares : 1;
  using Sums = ResidentSums<kIndex>;

  __device__ ResidentOutputs(const ResidentArguments& a, const ResidentTask& task,
                             const ResidentChannels& channels, std::uint32_t shared)
      : a_(a), task_(task), channels_(channels), shared_(shared) {}

  // By all warps of the thread block, and of the cluster.
  __device__ void finish(Sums& sums, int pass) {
    take_own(sums);
    if constexpr (kShares > 1) exchange(sums);
    const ResidentPixel origin = output_pixel(form(), task_.at, task_.warp.part, pass, {0, 0, 0});
    if (a_.addend != nullptr) add_addend(origin);
    store(origin);
  }

 private:
  __device__ static constexpr ResidentConvForm form() { return kResidentForms[kIndex]; }
  __device__ static constexpr PixelOfPair pair_of(int u) {
    if constexpr (kForm.is_point()) return pair_of_point(u);
    return pixel_of_square(form(), u / 4, u % 4);
  }
  __device__ static float (&sum_of(Sums& sums, int u))[4] {
    const PixelOfPair pixel = pair_of(u);
    return sums[pixel.pair][pixel.second];
  }
  // Which share finishes pixel u.
  __device__ static constexpr int share_of(int u) { return u / kUnit % kShares; }
  // Whether the warp finishes any: there may be more shares than units.
  __device__ bool has_own() const { return kShares <= kUnits || task_.share < kUnits; }
  // Pixel i of a unit of the first share, by the number of the unit among the share's.
  __device__ static constexpr int pixel_of_first(int unit, int i) {
    return unit * kShares * kUnit + i;
  }

  __device__ void take_own(Sums& sums) {
#pragma unroll
    for (int unit = 0; unit < kOwn; ++unit) {
#pragma unroll
      for (int i = 0; i < kUnit; ++i) {
#pragma unroll
        for (int s = 0; s < kShares && s < kUnits; ++s) {
          const float(&from)[4] = sum_of(sums, pixel_of_first(unit, i) + s * kUnit);
          if (s == 0 || s == task_.share) copy(own_[unit * kUnit + i], from);
        }
      }
    }
  }
  __device__ static void copy(float (&to)[4], const float (&from)[4]) {
    for (int k = 0; k < 4; ++k) to[k] = from[k];
  }

  // Sums of other shares -----------------------------------------------------------------------

  // Where the warp that is `ahead` warps further keeps its sums of pixel 0.
  __device__ std::uint32_t slots(int ahead) const {
    const int warp = static_cast<int>(threadIdx.x / 32) + ahead;
    return shared_ + (warp * kForm.pixels() * 32 + task_.lane) * kRowBytes;
  }
  __device__ static constexpr std::uint32_t slot(int u) {
    return static_cast<std::uint32_t>(u * 32) * kRowBytes;
  }

  // Every warp writes the sums that it does not finish itself to shared memory, and adds those of
  // others to its own, always in the same order.
  __device__ void exchange(Sums& sums) {
    const std::uint32_t to = slots(0);
    __syncthreads();  // the input is not read any more
#pragma unroll
    for (int u = 0; u < kForm.pixels(); ++u) {
      write_shared_if(share_of(u) != task_.share, to + slot(u), sum_of(sums, u));
    }
    a_.g.cluster > 1 ? meet_in_cluster() : __syncthreads();
#pragma unroll 1
    for (int step = 1; has_own() && step < kShares; ++step) {
      const int other = (task_.share + step) & (kShares - 1);
      const std::uint32_t at =
          slots((other & (a_.g.split - 1)) - task_.warp.split) + slot(1) * (task_.share * kUnit);
      const auto rank = static_cast<std::uint32_t>(other >> a_.g.split_bits);
      a_.g.cluster > 1 ? add<true>(address_in(at, rank)) : add<false>(at);
    }
  }
  template <bool kInCluster>
  __device__ void add(std::uint32_t at) {
#pragma unroll
    for (int j = 0; j < kOwn * kUnit; ++j) {
      const std::uint32_t from = at + slot(pixel_of_first(j / kUnit, j % kUnit));
      add_shared<kInCluster>(own_[j], from);
    }
  }

  // Outputs ------------------------------------------------------------------------------------

  __device__ static constexpr ResidentPixel pixel_at(int u) {
    if constexpr (kForm.is_point()) return pixel_of_point(u);
    const PixelOfPair which = pair_of(u);
    return pixel_of_pair(form(), which.pair, which.second);
  }
  // The warp's first own pixel: the others are as far from it as from the first share's.
  __device__ ResidentPixel first_of(const ResidentPixel& origin) const {
    const ResidentPixel step = pixel_at(task_.share * kUnit);
    return {origin.image + step.image, origin.y + step.y, origin.x + step.x};
  }

  // Two images of the lane in a pixel, at channel `half` of its two.
  __device__ std::int64_t first_element(const ResidentPixel& pixel, int half, int height,
                                        int width) const {
    return output_row(a_.g, pixel, channels_.place[half], height, width) * kGatheredImages +
           task_.lane % 4 * 2;
  }
  __device__ bool has_channel(int half) const {
    return has_own() && channels_.place[half] >= 0;
  }
  __device__ std::int64_t elements_to(const ResidentPixel& pixel, int height, int width) const {
    return output_step(a_.g, pixel, height, width) * kGatheredImages;
  }

  __device__ void add_addend(const ResidentPixel& origin) {
    const ResidentPixel first = first_of(origin);
    const int height = a_.g.height, width = a_.g.width;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const __half* from = a_.addend + first_element(first, half, height, width);
#pragma unroll
      for (int j = 0; j < kOwn * kUnit; ++j) {
        const ResidentPixel step = pixel_at(pixel_of_first(j / kUnit, j % kUnit));
        const bool is_inside = has_channel(half) && has_pixel(a_.g, first, step, height, width);
        const float2 added = load_images_if(is_inside, from + elements_to(step, height, width));
        own_[j][2 * half] += added.x;
        own_[j][2 * half + 1] += added.y;
      }
    }
  }

  __device__ void store(const ResidentPixel& origin) {
    const ResidentPixel first = kPools ? pooled_pixel(first_of(origin)) : first_of(origin);
    const int height = kPools ? a_.g.height / 2 : a_.g.height;
    const int width = kPools ? a_.g.width / 2 : a_.g.width;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      __half* to = a_.out + first_element(first, half, height, width);
#pragma unroll
      for (int unit = 0; unit < kOwn; ++unit) {
        const ResidentPixel pixel = pixel_at(pixel_of_first(unit, 0));
        const ResidentPixel step = kPools ? pooled_pixel(pixel) : pixel;
        const bool is_inside = has_channel(half) && has_pixel(a_.g, first, step, height, width);
        store_images_if(is_inside, to + elements_to(step, height, width), value_of(unit, 2 * half),
                        value_of(unit, 2 * half + 1));
      }
    }
  }
  // Of a unit, for the k-th of the lane's channels and images.
  __device__ float value_of(int unit, int k) const {
    float values[4];
#pragma unroll
    for (int i = 0; i < kUnit; ++i) {
      values[i] = at_least(own_[unit * kUnit + i][k] + channels_.bias[k / 2], a_.least);
    }
    if constexpr (!kPools) return values[0];
    return pooled(values, a_.pool == RingPool::average);
  }

  const ResidentArguments& a_;
  ResidentTask task_;
  ResidentChannels channels_;
  std::uint32_t shared_;
  float own_[kOwn * kUnit][4];
};

// Adds up, finishes and stores the sums of all warps of the thread block.
template <int kIndex, int kShares = 1>
__device__ __forceinline__ void finish_sums(const ResidentArguments& a, const ResidentTask& task,
                                            const ResidentChannels& channels, std::uint32_t shared,
                                            ResidentSums<kIndex>& sums, int pass) {
  if constexpr (kShares < kResidentShares) {
    if (a.g.shares() > kShares) {
      finish_sums<kIndex, 2 * kShares>(a, task, channels, shared, sums, pass);
      return;
    }
  }
  if (a.pool == RingPool::none || kResidentForms[kIndex].height == 1) {
    ResidentOutputs<kIndex, kShares, false>(a, task, channels, shared).finish(sums, pass);
  } else {
    ResidentOutputs<kIndex, kShares, true>(a, task, channels, shared).finish(sums, pass);
  }
}

}  // namespace winnow
