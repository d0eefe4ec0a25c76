#include "runtime/challenge/gpu/pair_kernel.h"

#include "runtime/base/error.h"
#include "runtime/challenge/gpu/group_inputs.cuh"
#include "runtime/challenge/gpu/group_output.cuh"
#include "runtime/challenge/gpu/overlapping_launch.h"
#include "runtime/challenge/gpu/staged_rows.cuh"
#include "runtime/device/cuda_check.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kMostRows = 256;  // of a part: local numbers have 8 bits
constexpr std::uint32_t kBuffers = 2;     // one is written while the other is still read

// ---------------------------------------------------------------------------------- device

// Half of a tile's images: blocks 4 h to 4 h + 3 of group_math.cuh, so that the groups of a part
// are shared out more evenly.
constexpr int kHalfBlocks = 4;

// Weights of a step times bits.
template <int kWeightParts>
__device__ __forceinline__ void add_bit_step(const GroupView& w, std::uint32_t step,
                                             const BitInputs (&in)[kFragments],
                                             float (&sum)[kHalfBlocks][4]) {
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
    uint4 weight[kWeightParts];
#pragma unroll
    for (int part = 0; part < kWeightParts; ++part) {
      weight[part] =
          __ldg(w.weight + ((std::size_t{step} * kWeightParts + part) * kFragments + f) * 32 +
                threadIdx.x % 32);
    }
    add(weight, in[f], sum);
  }
}

// The bits of half of a tile's images in the rows of a step.
__device__ __forceinline__ void load_bits(const StepRows& rows, const unsigned char* tile,
                                          std::uint32_t half, BitInputs (&in)[kFragments]) {
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const std::uint32_t byte =
          __ldg(tile + std::size_t{word_of(rows.of[f], k)} * 8 + this_lane().chunk());
      in[f].row[k] = byte >> half * kHalfBlocks & 0xf;
    }
  }
}

// Activations of half of the images to shared memory, rows from `first_row` on.
__device__ __forceinline__ void stage_half(std::uint32_t half, std::uint32_t first_row,
                                           const float (&sum)[kHalfBlocks][4],
                                           unsigned char* staged) {
  const Lane lane = this_lane();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float y[kHalfBlocks];
#pragma unroll
    for (int block = 0; block < kHalfBlocks; ++block) {
      y[block] = clamped(sum[block][i]);
    }
    const SplitPair a = split_pair(y[0], y[1]), b = split_pair(y[2], y[3]);
    const std::uint32_t row = first_row + lane.n + i / 2 * 8, chunk = lane.q + i % 2 * 4;
    const std::uint32_t in_chunk = half * kHalfBlocks * 2;
    *reinterpret_cast<uint2*>(staged + staged_at(row, 0, chunk) + in_chunk) =
        make_uint2(a.high, b.high);
    *reinterpret_cast<uint2*>(staged + staged_at(row, 1, chunk) + in_chunk) =
        make_uint2(a.low, b.low);
  }
}

// A group of the first layer for half of the tile's images.
template <int kWeightParts>
__device__ __forceinline__ void compute_half(const GroupView& w, std::uint32_t group,
                                             const unsigned char* tile, std::uint32_t half,
                                             std::uint32_t first_row, unsigned char* staged) {
  const Biases bias = biases_of(w, group);
  float sum[kHalfBlocks][4];
  begin_sum(w, bias, sum);
  const std::uint32_t step = first_step(w, group);
  const std::uint32_t end = w.steps != 0 ? step + w.steps : __ldg(w.step_begin + group + 1);
  for (std::uint32_t s = step; s < end; ++s) {
    BitInputs in[kFragments];
    load_bits(rows_of(w, s), tile, half, in);
    add_bit_step<kWeightParts>(w, s, in, sum);
  }
  end_sum(w, bias, sum);
  stage_half(half, first_row, sum, staged);
}

// All groups of the first layer that a part reads, shared out over the warps.
template <int kWeightParts>
__device__ __forceinline__ void compute_inputs(const PairLaunch& launch, std::uint32_t part,
                                               const unsigned char* tile, unsigned char* staged) {
  const GroupView& w = launch.second.weights;
  const std::uint32_t begin = __ldg(w.part_begin + part);
  const std::uint32_t groups = (__ldg(w.part_begin + part + 1) - begin) / kGroupOutputs;
  for (std::uint32_t task = threadIdx.x / 32; task < 2 * groups; task += kGroupWarps) {
    const std::uint32_t row = task / 2 * kGroupOutputs;
    compute_half<kWeightParts>(launch.first, __ldg(w.part_row + begin + row) / kGroupOutputs, tile,
                               task % 2, row, staged);
  }
}

template <bool kSplitOut, int kWeightParts>
__global__ void __launch_bounds__(kGroupThreads, 2) pair_kernel(const PairLaunch launch) {
  using Output = GroupOutput<kSplitOut, false>;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ typename Output::Scratch scratch[kGroupWarps];
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
  for (Item item = walk.at(blockIdx.x); item.work < end; item = walk.after(item), buffer ^= 1) {
    const std::uint32_t tile = item.work / walk.runs;
    unsigned char* rows = memory + buffer * buffer_bytes;
    compute_inputs<kWeightParts>(launch, item.part,
                                 static_cast<const unsigned char*>(a.in) +
                                     std::size_t{tile} * a.bit_rows * (kGroupImages / 8),
                                 rows);
    const std::uint32_t group = min(item.part * kGroupWarps + warp, w.groups - 1);
    const std::uint32_t step = first_step(w, group);
    const Step<kWeightParts> first = step_at<kWeightParts>(w, step);
    const Biases bias = biases_of(w, group);
    __syncthreads();
    if (item.part == walk.at(item.work).part) output.begin_tile(a, scratch[warp], tile, false);
    float sum[8][4];
    begin_sum(w, bias, sum);
    add_step<kWeightParts>(first, rows, sum);
    if (w.steps != 1) {
      const std::uint32_t last_step = __ldg(w.step_begin + group + 1);
      for (std::uint32_t s = step + 1; s < last_step; ++s) {
        add_step<kWeightParts>(step_at<kWeightParts>(w, s), rows, sum);
      }
    }
    end_sum(w, bias, sum);
    output.write(a, scratch[warp], group, sum);
    if (item.part + 1 == item.last_part) output.end_tile(a, images);
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
  int gpu = 0, most = 0;
  CUDA_CHECK(cudaGetDevice(&gpu));
  CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu));
  return shared_bytes(second) + kStatic <= static_cast<std::size_t>(most);
}

void launch_pair(const PairLaunch& launch, int processors, cudaStream_t stream) {
  const Kernel kernel = launch.second.out_form == GroupForm::split ? kernel_for<true>(launch)
                                                                   : kernel_for<false>(launch);
  LaunchSize size{.threads = kGroupThreads, .shared_bytes = shared_bytes(launch.second.weights)};
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(size.shared_bytes)));
  int per_processor = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, kernel, size.threads,
                                                           size.shared_bytes));
  if (per_processor == 0) fail(ErrorCode::device, "pair kernel: a block does not fit");
  size.blocks = processors * per_processor;
  launch_overlapping(kernel, launch, size, false, stream);
}

}  // namespace winnow::challenge
