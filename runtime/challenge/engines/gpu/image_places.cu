#include "runtime/challenge/engines/gpu/image_places.h"

#include "runtime/challenge/engines/gpu/live_images.cuh"
#include "runtime/device/cuda_check.h"

namespace winnow::challenge {
namespace {

constexpr int kThreads = 1024;
constexpr std::uint32_t kAll = 0xffffffffu;

// The sum of `value` over the threads up to and including this one.
__device__ __forceinline__ std::uint32_t sum_up_to(std::uint32_t value, std::uint32_t* warp_sums) {
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (std::uint32_t distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t other = __shfl_up_sync(kAll, value, distance);
    if (lane >= distance) value += other;
  }
  if (lane == 31) warp_sums[warp] = value;
  __syncthreads();
  const std::uint32_t before = __reduce_add_sync(kAll, lane < warp ? warp_sums[lane] : 0);
  return before + value;
}

// The live images of a word, which may begin beyond the last image.
__device__ __forceinline__ std::uint32_t live_images_if_any(const ImagePlaces& a,
                                                            std::uint32_t word,
                                                            std::uint32_t count) {
  return word * 32 >= count ? 0 : live_images(a.alive, word, count);
}

// Writes the ids of a word's live images; a lane each.
__device__ __forceinline__ void write_ids(const ImagePlaces& a, std::uint32_t word,
                                          std::uint32_t mask, std::uint32_t first) {
  const std::uint32_t lane = threadIdx.x % 32;
  if ((mask >> lane & 1) == 0) return;
  const std::uint32_t number = word * 32 + lane;
  const std::uint32_t id = a.in_id == nullptr ? number : a.in_id[number];
  const std::uint32_t place = first + __popc(mask & ((1u << lane) - 1));
  if (a.out_id != nullptr) a.out_id[place] = id;
  if (a.out_number != nullptr) a.out_number[place] = number;
  if (a.live_bits != nullptr) atomicOr(a.live_bits + id / 32, 1u << id % 32);
}

__device__ __forceinline__ void write_tile_ids(const ImagePlaces& a, std::uint32_t tile,
                                               const std::uint32_t (&mask)[2],
                                               std::uint32_t first) {
  const std::uint32_t word = tile * a.words_per_tile;
  write_ids(a, word, mask[0], first);
  write_ids(a, word + 1, mask[1], first + __popc(mask[0]));
}

// One block; a round places the images of kThreads tiles.
__global__ void __launch_bounds__(kThreads) place_kernel(const ImagePlaces a) {
  __shared__ std::uint32_t warp_sums[32];
  __shared__ std::uint32_t masks[kThreads][2], firsts[kThreads], all_taken;
  const std::uint32_t count = *a.in_count;
  const std::uint32_t tile_images = a.words_per_tile * 32;
  const std::uint32_t tiles = (count + tile_images - 1) / tile_images;
  std::uint32_t placed = 0;  // places taken in the rounds before
  for (std::uint32_t begin = 0; begin < tiles; begin += kThreads) {
    const std::uint32_t tile = begin + threadIdx.x, word = tile * a.words_per_tile;
    const std::uint32_t low = live_images_if_any(a, word, count);
    const std::uint32_t high = a.words_per_tile == 2 ? live_images_if_any(a, word + 1, count) : 0;
    const std::uint32_t taken =
        (__popc(low) + __popc(high) + a.multiple - 1) / a.multiple * a.multiple;
    const std::uint32_t first = placed + sum_up_to(taken, warp_sums) - taken;
    if (tile < tiles) a.first[tile] = first;
    masks[threadIdx.x][0] = low;
    masks[threadIdx.x][1] = high;
    firsts[threadIdx.x] = first;
    if (threadIdx.x == kThreads - 1) all_taken = first + taken;
    __syncthreads();
    if (a.out_id != nullptr || a.out_number != nullptr || a.live_bits != nullptr) {
      for (std::uint32_t t = threadIdx.x / 32; t < kThreads && begin + t < tiles;
           t += kThreads / 32) {
        write_tile_ids(a, begin + t, masks[t], firsts[t]);
      }
    }
    placed = all_taken;
    __syncthreads();
  }
  if (threadIdx.x == 0) *a.out_count = placed;
}

}  // namespace

void launch_image_places(const ImagePlaces& places, cudaStream_t stream) {
  place_kernel<<<1, kThreads, 0, stream>>>(places);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace winnow::challenge
