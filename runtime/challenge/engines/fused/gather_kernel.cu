#include "runtime/challenge/engines/fused/gather_kernel.h"

#include "runtime/challenge/engines/gpu/activation.cuh"
#include "runtime/challenge/engines/gpu/live_images.cuh"
#include "runtime/device/cuda_check.h"
#include "runtime/sparse/gather_rows.cuh"

namespace winnow::challenge {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 8;
constexpr std::uint32_t kAll = 0xffffffffu;

// ---------------------------------------------------------------------------------- device

// Sums of the output at a place for this lane's images.
template <typename T, bool kReadsBits>
__device__ __forceinline__ void sum_output(const GatherLaunch& a, std::uint32_t tile,
                                           std::uint32_t place, std::uint32_t chunk,
                                           float (&sum)[Chunk<T>::kImages]) {
  constexpr int kImages = Chunk<T>::kImages;
  if constexpr (kReadsBits) {
    const std::uint32_t* words = a.bits + std::size_t{tile} * a.weights.inputs;
    for_each_connection(a.weights, place, [&](std::uint32_t input, float weight) {
      const std::uint32_t word = __ldg(words + input) >> chunk * kImages;
#pragma unroll
      for (int v = 0; v < kImages; ++v) sum[v] += (word >> v & 1) != 0 ? weight : 0.0f;
    });
  } else {
    const T* x = static_cast<const T*>(a.in) + std::size_t{tile} * a.rows * kGatherImages;
    add_rows<kGatherImages>(a.weights, place, x + chunk * kImages, sum);
  }
}

template <typename T, bool kReadsBits>
__global__ void __launch_bounds__(kThreads) gather_kernel(const GatherLaunch a) {
  constexpr int kImages = Chunk<T>::kImages;
  constexpr std::uint32_t kLanesPerRow = kGatherImages / kImages;
  constexpr std::uint32_t kOutputs = kThreads / kLanesPerRow;  // of a block at a time
  const std::uint32_t chunk = threadIdx.x % kLanesPerRow;
  const std::uint32_t tiles = (*a.count + kGatherImages - 1) / kGatherImages;
  const std::uint32_t blocks = (a.weights.outputs + kOutputs - 1) / kOutputs;
  __shared__ std::uint32_t live;
  for (std::uint64_t work = blockIdx.x; work < std::uint64_t{tiles} * blocks; work += gridDim.x) {
    const auto tile = static_cast<std::uint32_t>(work / blocks);
    const std::uint32_t place =
        static_cast<std::uint32_t>(work % blocks) * kOutputs + threadIdx.x / kLanesPerRow;
    if (threadIdx.x == 0) live = 0;
    __syncthreads();
    std::uint32_t positive = 0;
    if (place < a.weights.outputs) {
      const std::uint32_t output = __ldg(a.weights.output + place);
      float sum[kImages] = {};
      sum_output<T, kReadsBits>(a, tile, place, chunk, sum);
      positive = activate(ChallengeEpilogue{}, __ldg(a.weights.bias + place), sum);
      T* y = static_cast<T*>(a.out) + (std::size_t{tile} * a.rows + output) * kGatherImages +
             chunk * kImages;
      *reinterpret_cast<uint4*>(y) = Chunk<T>::pack(sum);
    }
    if (a.alive != nullptr) {
      const std::uint32_t mine = __reduce_or_sync(kAll, positive << chunk * kImages);
      if (threadIdx.x % 32 == 0 && mine != 0) atomicOr(&live, mine);
      __syncthreads();
      if (threadIdx.x == 0 && live != 0) atomicOr(a.alive + tile, live);
    }
    __syncthreads();
  }
}

static_assert(kGatherImages == 32, "a tile is a word of bits");

template <typename In, typename Out>
__global__ void __launch_bounds__(kThreads) move_kernel(const GatherCompaction a) {
  constexpr std::uint32_t kRows = kThreads / kGatherImages;
  const std::uint32_t tiles = (*a.places.in_count + kGatherImages - 1) / kGatherImages;
  const std::uint32_t image = threadIdx.x % kGatherImages;
  for (std::uint32_t tile = blockIdx.y; tile < tiles; tile += gridDim.y) {
    const std::uint32_t mask = live_images(a.places.alive, tile, *a.places.in_count);
    if ((mask >> image & 1) == 0) continue;
    const std::uint32_t place = a.places.first[tile] + __popc(mask & ((1u << image) - 1));
    const In* from = static_cast<const In*>(a.in) + std::size_t{tile} * a.rows * kGatherImages;
    Out* to = static_cast<Out*>(a.out) +
              std::size_t{place / kGatherImages} * a.rows * kGatherImages + place % kGatherImages;
    for (std::uint32_t row = blockIdx.x * kRows + threadIdx.x / kGatherImages; row < a.used_rows;
         row += gridDim.x * kRows) {
      to[std::size_t{row} * kGatherImages] =
          narrow<Out>(widen(from[std::size_t{row} * kGatherImages + image]));
    }
  }
}

// ------------------------------------------------------------------------------------ host

template <typename In, typename Out>
void launch_move(const GatherCompaction& compaction, int sms, cudaStream_t stream) {
  const dim3 grid(16, static_cast<unsigned>(sms));
  move_kernel<In, Out><<<grid, kThreads, 0, stream>>>(compaction);
}

}  // namespace

void launch_gather(const GatherLaunch& launch, int sms, cudaStream_t stream) {
  const int blocks = sms * kBlocksPerSm;
  if (launch.bits != nullptr && launch.is_half) {
    gather_kernel<__half, true><<<blocks, kThreads, 0, stream>>>(launch);
  } else if (launch.bits != nullptr) {
    gather_kernel<float, true><<<blocks, kThreads, 0, stream>>>(launch);
  } else if (launch.is_half) {
    gather_kernel<__half, false><<<blocks, kThreads, 0, stream>>>(launch);
  } else {
    gather_kernel<float, false><<<blocks, kThreads, 0, stream>>>(launch);
  }
  CUDA_CHECK(cudaGetLastError());
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
