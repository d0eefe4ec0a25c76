#include "runtime/challenge/engines/fused/gather_kernel.h"

#include "runtime/challenge/engines/gpu/activation.cuh"
#include "runtime/device/cuda_check.h"
#include "runtime/sparse/gather_rows.cuh"

namespace winnow::challenge {
namespace {

constexpr int kThreads = 256;
constexpr std::uint32_t kAll = 0xffffffffu;

// ---------------------------------------------------------------------------------- device

// Sums of a unit for this lane's chunk of images.
template <typename T, bool kReadsBits, int kOutputs>
__device__ __forceinline__ void sum_unit(const GatherLaunch& a, std::uint32_t tile,
                                         std::uint32_t unit, std::uint32_t chunk,
                                         float (&sum)[kOutputs][Chunk<T>::kImages]) {
  constexpr int kImages = Chunk<T>::kImages;
  if constexpr (kReadsBits) {
    const std::uint32_t* words = a.bits + std::size_t{tile} * a.weights.inputs;
    for_each_connection<kOutputs>(
        a.weights, unit,
        [&](std::uint32_t input) { return __ldg(words + input) >> chunk * kImages; },
        [&](std::uint32_t word, const float(&weight)[kOutputs]) {
#pragma unroll
          for (int v = 0; v < kImages; ++v) {
#pragma unroll
            for (int o = 0; o < kOutputs; ++o) {
              if ((word >> v & 1) != 0) sum[o][v] += weight[o];
            }
          }
        });
  } else {
    const T* x = static_cast<const T*>(a.in) + std::size_t{tile} * a.rows * kGatherImages;
    add_rows<kGatherImages>(a.weights, unit, x + chunk * kImages, sum);
  }
}

// Makes the outputs of a unit. Returns a bit for each image of the chunk that is above 0 in one.
template <typename T, bool kReadsBits, int kOutputs>
__device__ __forceinline__ std::uint32_t make_unit(const GatherLaunch& a, std::uint32_t tile,
                                                   std::uint32_t unit, std::uint32_t chunk) {
  constexpr int kImages = Chunk<T>::kImages;
  float sum[kOutputs][kImages] = {};
  sum_unit<T, kReadsBits>(a, tile, unit, chunk, sum);
  const std::uint32_t place =
      kOutputs == 1 ? unit + (kQuad - 1) * a.weights.quads : unit * kOutputs;
  T* const y =
      static_cast<T*>(a.out) + std::size_t{tile} * a.rows * kGatherImages + chunk * kImages;
  std::uint32_t positive = 0;
#pragma unroll
  for (int o = 0; o < kOutputs; ++o) {
    positive |= activate(ChallengeEpilogue{}, __ldg(a.weights.bias + place + o), sum[o]);
    const std::uint32_t output = __ldg(a.weights.output + place + o);
    *reinterpret_cast<uint4*>(y + std::size_t{output} * kGatherImages) = Chunk<T>::pack(sum[o]);
  }
  return positive;
}

// Quads, or singles. Groups of lanes make a unit each; warps need not wait for each other.
template <typename T, bool kReadsBits, int kOutputs>
__global__ void __launch_bounds__(kThreads, kOutputs == 1 ? 4 : 3)
    gather_kernel(const GatherLaunch a) {
  constexpr std::uint32_t kLanesPerRow = kGatherImages / Chunk<T>::kImages;
  constexpr std::uint32_t kUnits = kThreads / kLanesPerRow;  // of a block at a time
  const std::uint32_t first = kOutputs == 1 ? a.weights.quads : 0;
  const std::uint32_t last = kOutputs == 1 ? a.weights.units() : a.weights.quads;
  const std::uint32_t chunk = threadIdx.x % kLanesPerRow;
  const std::uint32_t tiles = (*a.count + kGatherImages - 1) / kGatherImages;
  const std::uint32_t blocks = (last - first + kUnits - 1) / kUnits;
  for (std::uint32_t work = blockIdx.x; work < tiles * blocks; work += gridDim.x) {
    const std::uint32_t tile = work / blocks;
    const std::uint32_t unit = first + work % blocks * kUnits + threadIdx.x / kLanesPerRow;
    std::uint32_t positive = 0;
    if (unit < last) positive = make_unit<T, kReadsBits, kOutputs>(a, tile, unit, chunk);
    if (a.alive == nullptr) continue;
    const std::uint32_t live = __reduce_or_sync(kAll, positive << chunk * Chunk<T>::kImages);
    if (threadIdx.x % 32 == 0 && (live & ~__ldcg(a.alive + tile)) != 0) {
      atomicOr(a.alive + tile, live);
    }
  }
}

static_assert(kGatherImages == 32, "a tile is a word of bits");

// A warp writes whole rows of a tile, whose images it reads from wherever they were.
template <typename In, typename Out>
__global__ void __launch_bounds__(kThreads) move_kernel(const GatherCompaction a) {
  constexpr std::uint32_t kRows = kThreads / 32, kAtOnce = 8;
  const std::uint32_t count = *a.places.out_count, image = threadIdx.x % 32;
  const std::uint32_t first = blockIdx.x * kRows + threadIdx.x / 32, step = gridDim.x * kRows;
  for (std::uint32_t tile = blockIdx.y; tile * 32 < count; tile += gridDim.y) {
    const std::uint32_t place = tile * 32 + image;
    const std::uint32_t number = a.places.out_number[min(place, count - 1)];
    const In* from =
        static_cast<const In*>(a.in) + std::size_t{number / 32} * a.rows * 32 + number % 32;
    Out* to = static_cast<Out*>(a.out) + std::size_t{tile} * a.rows * 32 + image;
    for (std::uint32_t row = first; row < a.used_rows; row += step * kAtOnce) {
      In value[kAtOnce];
#pragma unroll
      for (std::uint32_t k = 0; k < kAtOnce; ++k) {
        const std::uint32_t at = min(row + k * step, a.used_rows - 1);
        value[k] = from[std::size_t{at} * 32];
      }
#pragma unroll
      for (std::uint32_t k = 0; k < kAtOnce; ++k) {
        if (row + k * step >= a.used_rows) break;
        to[std::size_t{row + k * step} * 32] = narrow<Out>(widen(value[k]));
      }
    }
  }
}

// ------------------------------------------------------------------------------------ host

template <typename In, typename Out>
void launch_move(const GatherCompaction& compaction, int sms, cudaStream_t stream) {
  const dim3 grid(16, static_cast<unsigned>(sms));
  move_kernel<In, Out><<<grid, kThreads, 0, stream>>>(compaction);
}

template <typename T, bool kReadsBits, int kOutputs>
void launch_kernel(const GatherLaunch& launch, int sms, cudaStream_t stream) {
  const auto kernel = gather_kernel<T, kReadsBits, kOutputs>;
  int per_sm = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, kThreads, 0));
  kernel<<<sms * per_sm, kThreads, 0, stream>>>(launch);
  CUDA_CHECK(cudaGetLastError());
}

template <int kOutputs>
void launch_units(const GatherLaunch& launch, int sms, cudaStream_t stream) {
  if (launch.bits != nullptr && launch.is_half) {
    launch_kernel<__half, true, kOutputs>(launch, sms, stream);
  } else if (launch.bits != nullptr) {
    launch_kernel<float, true, kOutputs>(launch, sms, stream);
  } else if (launch.is_half) {
    launch_kernel<__half, false, kOutputs>(launch, sms, stream);
  } else {
    launch_kernel<float, false, kOutputs>(launch, sms, stream);
  }
}

}  // namespace

void launch_gather(const GatherLaunch& launch, int sms, cudaStream_t stream) {
  if (launch.weights.quads > 0) launch_units<static_cast<int>(kQuad)>(launch, sms, stream);
  if (launch.weights.units() > launch.weights.quads) launch_units<1>(launch, sms, stream);
}

void launch_compaction(const GatherCompaction& compaction, int sms, cudaStream_t stream) {
  launch_image_places(compaction.places, stream);
  if (compaction.out == nullptr) return;
  if (compaction.in_half) {
    launch_move<__half, __half>(compaction, sms, stream);
  } else if (compaction.out_half) {
    launch_move<float, __half>(compaction, sms, stream);
  } else {
    launch_move<float, float>(compaction, sms, stream);
  }
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace winnow::challenge
