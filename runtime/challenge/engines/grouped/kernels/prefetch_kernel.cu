// A warp's rows lie in shared memory in the order 16 f + 4 i + q for fragment f and the i-th of the
// inputs 2q, 2q+1, 2q+8, 2q+9; the chunk c of row r is at place c ^ r % 8. So a quarter of a warp,
// which reads the chunks c and c + 4 of the rows q = 0 to 3, meets all banks once.
#include "runtime/challenge/engines/grouped/kernels/prefetch_kernel.h"

#include "runtime/challenge/engines/grouped/kernels/group_inputs.cuh"
#include "runtime/challenge/engines/grouped/kernels/group_math.cuh"
#include "runtime/challenge/engines/grouped/kernels/group_output.cuh"
#include "runtime/device/async_copy.cuh"
#include "runtime/device/cuda_check.h"
#include "runtime/device/overlap.cuh"
#include "runtime/device/overlapping_launch.h"

namespace winnow::challenge {
namespace {

// Three blocks an SM hide more latency, two are spread more evenly where there is little work.
constexpr std::uint32_t kManyGroups = 512;
constexpr std::uint32_t kSlots = 2;
constexpr std::uint32_t kSlotBytes = kStepInputs * kRowBytes;
constexpr std::size_t kSharedBytes = std::size_t{kGroupWarps} * kSlots * kSlotBytes;

// ---------------------------------------------------------------------------------- device

__device__ __forceinline__ std::uint32_t place_of(std::uint32_t row, std::uint32_t chunk) {
  return row * kRowBytes + ((chunk ^ row) % 8) * 16;
}

// The rows that a lane copies: chunk lane % 8 of the rows 4 j + lane / 8.
__device__ __forceinline__ StepRows rows_to_copy(const GroupView& w, std::uint32_t group) {
  StepRows rows;
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
    rows.of[f] = __ldg(w.input + (std::size_t{group} * kFragments + f) * 4 + threadIdx.x % 32 / 8);
  }
  return rows;
}

__device__ __forceinline__ void copy_rows(const StepRows& rows, const unsigned char* tile,
                                          unsigned char* to) {
  const std::uint32_t chunk = threadIdx.x % 8, q = threadIdx.x % 32 / 8;
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      copy_to_shared(to + place_of(16 * f + 4 * i + q, chunk),
                     tile + std::size_t{word_of(rows.of[f], i)} * kRowBytes + chunk * 16);
    }
  }
}

template <int kWeightTerms>
__device__ __forceinline__ void add_prefetched(const uint4 (&weight)[kFragments][kWeightTerms],
                                               const unsigned char* rows, const SumBegin& begin,
                                               float (&sum)[8][4]) {
  const Lane lane = this_lane();
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
    Inputs in;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      in.row[i] =
          *reinterpret_cast<const uint4*>(rows + place_of(16 * f + 4 * i + lane.q, lane.chunk()));
    }
    add<kWeightTerms>(weight[f], in, sum, f == 0 ? &begin : nullptr);
  }
}

template <int kWeightTerms, int kBlocksPerSm>
__global__ void __launch_bounds__(kGroupThreads, kBlocksPerSm)
    prefetch_kernel(const GroupLaunch a) {
  using Output = GroupOutput<false, false>;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ typename Output::Scratch scratch[kGroupWarps];
  const GroupView& w = a.weights;
  const std::uint32_t warp = threadIdx.x / 32;
  const std::uint32_t panels = (w.groups + kGroupWarps - 1) / kGroupWarps;
  const std::size_t tile_bytes = std::size_t{a.rows} * kRowBytes;
  unsigned char* const slots = memory + warp * kSlots * kSlotBytes;
  const auto group_of = [&](std::uint32_t work) {  // the last panel may be short
    return min(work % panels * kGroupWarps + warp, w.groups - 1);
  };
  StepRows rows = rows_to_copy(w, group_of(blockIdx.x));
  begin_next_launch();
  wait_for_launch_before();
  const std::uint32_t images = *a.count;
  const std::uint32_t tiles = (images + kGroupImages - 1) / kGroupImages;
  const auto tile_of = [&](std::uint32_t work) {
    return a.order.is_reverse ? tiles - 1 - work / panels : work / panels;
  };
  // Begins to copy the rows of `work`, whose numbers are there, and fetches those of the next.
  const auto copy = [&](std::uint32_t work, std::uint32_t slot) {
    if (work < tiles * panels) {
      copy_rows(rows, static_cast<const unsigned char*>(a.in) + tile_of(work) * tile_bytes,
                slots + slot * kSlotBytes);
    }
    end_of_copies();
    rows = rows_to_copy(w, group_of(work + gridDim.x));
  };
  for (std::uint32_t s = 0; s + 1 < kSlots; ++s) copy(blockIdx.x + s * gridDim.x, s);
  Output output;
  std::uint32_t slot = 0;
  for (std::uint32_t work = blockIdx.x; work < tiles * panels; work += gridDim.x) {
    copy(work + (kSlots - 1) * gridDim.x, (slot + kSlots - 1) % kSlots);
    const std::uint32_t group = group_of(work);
    const Biases bias = biases_of(w, group);
    uint4 weight[kFragments][kWeightTerms];
    load_weights(w, group, weight);  // a group is one step
    float sum[8][4];
    wait_for_copies<kSlots - 1>();
    __syncwarp();
    add_prefetched<kWeightTerms>(weight, slots + slot * kSlotBytes, begin_of_sums(w, bias), sum);
    __syncwarp();
    end_sum(w, bias, sum);
    output.begin_tile(a, scratch[warp], tile_of(work), false);
    output.write(a, scratch[warp], group, sum);
    output.end_tile(a, images);
    slot = (slot + 1) % kSlots;
  }
}

// ------------------------------------------------------------------------------------ host

template <int kBlocksPerSm>
void launch_blocks(const GroupLaunch& launch, int sms, cudaStream_t stream) {
  void (*kernel)(GroupLaunch) = launch.weights.weight_terms == 2 ? prefetch_kernel<2, kBlocksPerSm>
                                                                 : prefetch_kernel<1, kBlocksPerSm>;
  allow_shared_memory(kernel, kSharedBytes);
  const LaunchSize size{.blocks = static_cast<unsigned>(sms * kBlocksPerSm),
                        .threads = kGroupThreads,
                        .shared_bytes = kSharedBytes};
  launch_overlapping(kernel, size, true, stream, launch);
}

}  // namespace

bool can_prefetch(const GroupLaunch& launch) {
  constexpr std::size_t kStatic = 1024;  // at most
  if (launch.in_form != GroupForm::half || launch.moves.keep != nullptr) return false;
  if (launch.weights.steps != 1) return false;
  return fits_shared_memory(kSharedBytes + kStatic);
}

void launch_prefetch_layer(const GroupLaunch& launch, int sms, cudaStream_t stream) {
  if (launch.weights.groups >= kManyGroups) return launch_blocks<3>(launch, sms, stream);
  launch_blocks<2>(launch, sms, stream);
}

}  // namespace winnow::challenge
