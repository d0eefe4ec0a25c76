#include "runtime/challenge/gpu/pair_kernel.h"

#include "runtime/challenge/gpu/group_inputs.cuh"
#include "runtime/challenge/gpu/group_output.cuh"
#include "runtime/challenge/gpu/overlapping_launch.h"
#include "runtime/challenge/gpu/staged_rows.cuh"
#include "runtime/device/cuda_check.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kMostRows = 256;  // of a part: local numbers have 8 bits
constexpr std::uint32_t kBuffers = 2;     // one is written while the other is still read
// Parts whose 8 groups form a chain read 9 groups: one for each warp, of which 8 then compute.
constexpr std::uint32_t kWarps = 9;
constexpr int kThreads = kWarps * 32;
static_assert(kWarps >= kGroupWarps);

// ---------------------------------------------------------------------------------- device

template <int kWeightParts>
__device__ __forceinline__ void add_bits(const GroupView& w, std::uint32_t step,
                                         const StepRows& rows, const unsigned char* tile,
                                         float (&sum)[8][4]) {
  BitInputs in[kFragments];
  load_bits(rows, tile, in);
  uint4 weight[kFragments][kWeightParts];
  load_weights(w, step, weight);
#pragma unroll
  for (int f = 0; f < kFragments; ++f) add(weight[f], in[f], sum);
}

// Activations to shared memory, rows from `first_row` on.
__device__ __forceinline__ void stage_group(const float (&sum)[8][4], std::uint32_t first_row,
                                            unsigned char* staged) {
  const Lane lane = this_lane();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const SplitChunk values = split_chunk(sum, i);
    const std::uint32_t row = first_row + lane.n + i / 2 * 8, chunk = lane.q + i % 2 * 4;
    *reinterpret_cast<uint4*>(staged + staged_at(row, 0, chunk)) = values.high;
    *reinterpret_cast<uint4*>(staged + staged_at(row, 1, chunk)) = values.low;
  }
}

// The `number`-th group that a part of the second layer reads.
__device__ __forceinline__ std::uint32_t first_group(const PairLaunch& launch, std::uint32_t part,
                                                     std::uint32_t number) {
  const GroupView& w = launch.second.weights;
  const std::uint32_t begin = __ldg(w.part_begin + part);
  const std::uint32_t last = __ldg(w.part_begin + part + 1) - kGroupOutputs;
  return __ldg(w.part_row + min(begin + number * kGroupOutputs, last)) / kGroupOutputs;
}

template <int kWeightParts>
__device__ __forceinline__ void compute_group(const GroupView& w, std::uint32_t group,
                                              const unsigned char* tile, std::uint32_t first_row,
                                              unsigned char* staged) {
  const Biases bias = biases_of(w, group);
  float sum[8][4];
  begin_sum(w, bias, sum);
  const std::uint32_t step = first_step(w, group);
  add_bits<kWeightParts>(w, step, rows_of(w, step), tile, sum);
  if (w.steps != 1) {
    const std::uint32_t end = __ldg(w.step_begin + group + 1);
    for (std::uint32_t s = step + 1; s < end; ++s) {
      add_bits<kWeightParts>(w, s, rows_of(w, s), tile, sum);
    }
  }
  end_sum(w, bias, sum);
  stage_group(sum, first_row, staged);
}

// All groups of the first layer that a part reads, a warp each; `ahead` is the warp's first,
// fetched before it is needed.
template <int kWeightParts>
__device__ __forceinline__ void compute_inputs(const PairLaunch& launch, std::uint32_t part,
                                               std::uint32_t ahead, const unsigned char* tile,
                                               unsigned char* staged) {
  const GroupView& w = launch.second.weights;
  const std::uint32_t warp = threadIdx.x / 32;
  const std::uint32_t groups =
      (__ldg(w.part_begin + part + 1) - __ldg(w.part_begin + part)) / kGroupOutputs;
  if (warp < groups) {
    compute_group<kWeightParts>(launch.first, ahead, tile, warp * kGroupOutputs, staged);
  }
  for (std::uint32_t g = warp + kWarps; g < groups; g += kWarps) {
    compute_group<kWeightParts>(launch.first, first_group(launch, part, g), tile, g * kGroupOutputs,
                                staged);
  }
}

// The warp's group of the second layer.
template <int kWeightParts>
__device__ __forceinline__ void sum_second(const GroupView& w, std::uint32_t group,
                                           const Biases& bias, const Step<kWeightParts>& first,
                                           const unsigned char* rows, float (&sum)[8][4]) {
  begin_sum(w, bias, sum);
  add_step<kWeightParts>(first, rows, sum);
  if (w.steps != 1) {
    const std::uint32_t end = __ldg(w.step_begin + group + 1);
    for (std::uint32_t s = first_step(w, group) + 1; s < end; ++s) {
      add_step<kWeightParts>(step_at<kWeightParts>(w, s), rows, sum);
    }
  }
  end_sum(w, bias, sum);
}

template <bool kSplitOut, int kWeightParts>
__global__ void __launch_bounds__(kThreads, 2) pair_kernel(const PairLaunch launch) {
  using Output = GroupOutput<kSplitOut, false>;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ typename Output::Scratch scratch[kWarps];
  const GroupLaunch& a = launch.second;
  const GroupView& w = a.weights;
  const std::uint32_t warp = threadIdx.x / 32;
  const std::uint32_t buffer_bytes = w.most_part_rows * kInputParts * kRowBytes;
  const std::uint32_t parts = (w.groups + kGroupWarps - 1) / kGroupWarps;
  const Walk walk{parts, a.run, (parts + a.run - 1) / a.run};
  const std::uint32_t images = *a.count;
  const std::uint32_t end = (images + kGroupImages - 1) / kGroupImages * walk.runs;
  Output output;
  std::uint32_t buffer = 0;
  Item item = walk.at(blockIdx.x);
  std::uint32_t ahead = first_group(launch, item.part, warp);
  while (item.work < end) {
    const std::uint32_t tile = item.work / walk.runs;
    const Item next = walk.after(item);
    unsigned char* rows = memory + buffer * buffer_bytes;
    compute_inputs<kWeightParts>(launch, item.part, ahead,
                                 static_cast<const unsigned char*>(a.in) +
                                     std::size_t{tile} * a.bit_rows * (kGroupImages / 8),
                                 rows);
    ahead = first_group(launch, next.part, warp);
    const std::uint32_t group = min(item.part * kGroupWarps + warp, w.groups - 1);
    const Step<kWeightParts> first = step_at<kWeightParts>(w, first_step(w, group));
    const Biases bias = biases_of(w, group);
    __syncthreads();
    if (warp < kGroupWarps) {
      if (item.part == walk.at(item.work).part) output.begin_tile(a, scratch[warp], tile, false);
      float sum[8][4];
      sum_second<kWeightParts>(w, group, bias, first, rows, sum);
      output.write(a, scratch[warp], group, sum);
      if (item.part + 1 == item.last_part) output.end_tile(a, images);
    }
    item = next;
    buffer ^= 1;
  }
}

// ------------------------------------------------------------------------------------ host

using Kernel = void (*)(PairLaunch);

template <bool kSplitOut>
Kernel kernel_for(const PairLaunch& launch) {
  return launch.first.parts == 2 ? pair_kernel<kSplitOut, 2> : pair_kernel<kSplitOut, 1>;
}

std::size_t shared_bytes(const GroupView& second) {
  return std::size_t{kBuffers} * second.most_part_rows * kInputParts * kRowBytes;
}

}  // namespace

bool can_pair(const GroupView& first, const GroupView& second) {
  constexpr std::size_t kStatic = 1024;  // at most
  if (!second.reads_whole_groups || second.most_part_rows > kMostRows) return false;
  if (first.parts != second.parts) return false;
  return fits_shared_memory(shared_bytes(second) + kStatic);
}

void launch_pair(const PairLaunch& launch, int processors, cudaStream_t stream) {
  const Kernel kernel = launch.second.out_form == GroupForm::split ? kernel_for<true>(launch)
                                                                   : kernel_for<false>(launch);
  const LaunchSize size{.threads = kThreads, .shared_bytes = shared_bytes(launch.second.weights)};
  launch_filling(kernel, launch, size, processors, false, stream);
}

}  // namespace winnow::challenge
