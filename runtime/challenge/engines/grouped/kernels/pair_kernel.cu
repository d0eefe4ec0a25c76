#include "runtime/challenge/engines/grouped/kernels/pair_kernel.h"

#include "runtime/challenge/engines/gpu/overlapping_launch.h"
#include "runtime/challenge/engines/grouped/kernels/group_inputs.cuh"
#include "runtime/challenge/engines/grouped/kernels/group_output.cuh"
#include "runtime/challenge/engines/grouped/kernels/staged_rows.cuh"
#include "runtime/device/async_copy.cuh"
#include "runtime/device/cuda_check.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kBuffers = 2;  // one is written while the other is still read

// ---------------------------------------------------------------------------------- device

// A lane's weights of one step; every lane reads what it has copied.
template <int kWeightParts>
struct StagedWeights {
  uint4 of[kFragments * kWeightParts][32];  // [part][fragment]

  __device__ void copy(const GroupView& w, std::uint32_t step) {
#pragma unroll
    for (int i = 0; i < kFragments * kWeightParts; ++i) {
      const std::size_t at = (std::size_t{step} * kFragments * kWeightParts + i) * 32;
      copy_to_shared(&of[i][threadIdx.x % 32], w.weight + at + threadIdx.x % 32);
    }
  }
  __device__ void read(int fragment, uint4 (&weight)[kWeightParts]) const {
#pragma unroll
    for (int part = 0; part < kWeightParts; ++part) {
      weight[part] = of[part * kFragments + fragment][threadIdx.x % 32];
    }
  }
};

// What a warp needs of its next groups, in shared memory, where it takes no registers while it is
// on its way.
template <int kWeightParts>
struct Staged {
  StagedWeights<kWeightParts> first, second;
  uint4 row[kFragments * 4];       // of the inputs of the first layer's group, as GroupView::input
  uint2 bits[kFragments * 4 * 4];  // of those rows
  float4 bias[kGroupOutputs / 4];  // of the first layer's group

  __device__ void copy_rows(const GroupView& w, std::uint32_t group) {
    const std::uint32_t lane = threadIdx.x % 32;
    if (lane >= kFragments * 4) return;
    copy_to_shared(row + lane, w.input + std::size_t{first_step(w, group)} * kFragments * 4 + lane);
  }
  __device__ void copy_bias(const GroupView& w, std::uint32_t group) {
    const std::uint32_t lane = threadIdx.x % 32;
    if (lane >= kGroupOutputs / 4) return;
    copy_to_shared(bias + lane, w.bias + group * kGroupOutputs + lane * 4);
  }
  __device__ Biases read_bias() const {
    const auto* value = reinterpret_cast<const float*>(bias);
    return {{value[this_lane().n], value[this_lane().n + 8]}};
  }
  // The rows are there.
  __device__ void copy_bits(const unsigned char* tile) {
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t number = reinterpret_cast<const std::uint32_t*>(row)[lane];
    copy_8_to_shared(bits + lane, tile + std::size_t{number} * sizeof(uint2));
  }
  __device__ void read_bits(BitInputs (&in)[kFragments]) const {
    const Lane lane = this_lane();
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        in[f].row[k] =
            reinterpret_cast<const unsigned char*>(bits + 16 * f + 4 * lane.q + k)[lane.chunk()];
      }
    }
  }
};
static_assert(kFragments * 4 * 4 == 32, "a lane copies the bits of a row");

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

template <int kWeightParts>
__device__ __forceinline__ void add_bits(const GroupView& w, std::uint32_t step,
                                         const unsigned char* tile, const SumBegin* begin,
                                         float (&sum)[8][4]) {
  BitInputs in[kFragments];
  load_bits(rows_of(w, step), tile, in);
  uint4 weight[kFragments][kWeightParts];
  load_weights(w, step, weight);
#pragma unroll
  for (int f = 0; f < kFragments; ++f) add(weight[f], in[f], sum, f == 0 ? begin : nullptr);
}

// A group of the first layer, `entry` in GroupView::part_group. `ahead`: its first step, which is
// there; null: still in global memory.
template <int kWeightParts>
__device__ __forceinline__ void compute_first(const GroupView& w, std::uint32_t entry,
                                              const Staged<kWeightParts>* ahead,
                                              const unsigned char* tile, unsigned char* staged) {
  const std::uint32_t group = group_of_entry(entry), number = number_of_entry(entry);
  const Biases bias = ahead != nullptr ? ahead->read_bias() : biases_of(w, group);
  const SumBegin begin = begin_of_sums(w, bias);
  float sum[8][4];
  std::uint32_t step = first_step(w, group);
  if (ahead != nullptr) {
    BitInputs in[kFragments];
    ahead->read_bits(in);
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
      uint4 weight[kWeightParts];
      ahead->first.read(f, weight);
      add(weight, in[f], sum, f == 0 ? &begin : nullptr);
    }
  } else {
    add_bits<kWeightParts>(w, step, tile, &begin, sum);
  }
  if (w.steps != 1) {
    const std::uint32_t end = __ldg(w.step_begin + group + 1);
    for (++step; step < end; ++step) add_bits<kWeightParts>(w, step, tile, nullptr, sum);
  }
  end_sum(w, bias, sum);
  stage_group(sum, number * kGroupOutputs, staged);
}

// The group that the part shares with the part before, as it lies there: a row's number modulo 8
// stays the same.
__device__ __forceinline__ void take_over(const PartReads& reads, const unsigned char* before,
                                          unsigned char* staged) {
  constexpr std::uint32_t kGroupBytes = kGroupOutputs * kInputParts * kRowBytes;
  static_assert(kGroupBytes == kGroupThreads * sizeof(uint4));
  const auto* from = reinterpret_cast<const uint4*>(before + reads.there() * kGroupBytes);
  auto* to = reinterpret_cast<uint4*>(staged + reads.here() * kGroupBytes);
  to[threadIdx.x] = from[threadIdx.x];
}

// What is known of an item before its turn.
struct Ahead {
  PartReads reads;
  std::uint32_t entry;  // the warp's first group
};

__device__ __forceinline__ Ahead look_at(const GroupView& w, std::uint32_t part) {
  return {{__ldg(w.part_reads + part)},
          __ldg(w.part_group + part * kMostPartReads + threadIdx.x / 32)};
}

// The warp's group of the second layer; `local`: the inputs of its first step, as GroupView's.
template <int kWeightParts>
__device__ __forceinline__ void sum_second(const GroupView& w, std::uint32_t group,
                                           const Biases& bias, const uint2 (&local)[kFragments],
                                           const StagedWeights<kWeightParts>& weights,
                                           const unsigned char* rows, float (&sum)[8][4]) {
  const SumBegin begin = begin_of_sums(w, bias);
  Step<kWeightParts> step;
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
    step.local[f] = local[f];
    weights.read(f, step.weight[f]);
  }
  add_step<kWeightParts>(step, rows, sum, &begin);
  add_further_steps<kWeightParts>(w, group, rows, sum);
  end_sum(w, bias, sum);
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
  const Walk walk(w.groups, a.run, 0, blockIdx.x, gridDim.x);
  const std::uint32_t images = *a.count;
  const std::uint32_t tiles = (images + kGroupImages - 1) / kGroupImages;
  const auto bits_of = [&](const Item& item) {
    return static_cast<const unsigned char*>(a.in) +
           std::size_t{walk.tile(item)} * a.bit_rows * (kGroupImages / 8);
  };
  const auto group_of = [&](const Item& item) {
    return min(walk.part(item) * kGroupWarps + warp, w.groups - 1);
  };
  auto& ahead = reinterpret_cast<Staged<kWeightParts>*>(memory + kBuffers * buffer_bytes)[warp];
  const auto copy_rows = [&](std::uint32_t entry) {
    __syncwarp();  // all lanes have read the rows before
    ahead.copy_rows(launch.first, group_of_entry(entry));
    end_of_copies();
  };
  // Of the group whose rows are there.
  const auto copy_rest = [&](const Item& item, std::uint32_t entry) {
    wait_for_copies<0>();
    __syncwarp();
    if (!walk.is_end(item, tiles)) ahead.copy_bits(bits_of(item));
    ahead.copy_bias(launch.first, group_of_entry(entry));
    ahead.first.copy(launch.first, first_step(launch.first, group_of_entry(entry)));
    ahead.second.copy(w, first_step(w, group_of(item)));
    end_of_copies();
  };
  Output output;
  std::uint32_t buffer = 0;
  Item item = walk.begin();
  Ahead now = look_at(w, walk.part(item)), next = look_at(w, walk.part(walk.after(item)));
  copy_rows(now.entry);
  copy_rest(item, now.entry);
  while (!walk.is_end(item, tiles)) {
    const Item next_item = walk.after(item);
    const Ahead further = look_at(w, walk.part(walk.after(next_item)));
    copy_rows(next.entry);
    const std::uint32_t group = group_of(item);
    uint2 local[kFragments];
    load_local(w, first_step(w, group), local);
    const Biases bias = biases_of(w, group);
    unsigned char* rows = memory + buffer * buffer_bytes;
    const bool takes_over = item.i > 0 && now.reads.is_shared();
    if (takes_over) take_over(now.reads, memory + (buffer ^ 1) * buffer_bytes, rows);
    const std::uint32_t computed = now.reads.groups() - (takes_over ? 1 : 0);
    wait_for_copies<1>();  // but not for the rows of the next item
    __syncwarp();
    if (warp < computed) compute_first(launch.first, now.entry, &ahead, bits_of(item), rows);
    for (std::uint32_t k = warp + kGroupWarps; k < computed; k += kGroupWarps) {
      const std::uint32_t entry = __ldg(w.part_group + walk.part(item) * kMostPartReads + k);
      compute_first<kWeightParts>(launch.first, entry, nullptr, bits_of(item), rows);
    }
    __syncthreads();
    if (item.i == 0) output.begin_tile(a, scratch[warp], walk.tile(item), false);
    float sum[8][4];
    sum_second<kWeightParts>(w, group, bias, local, ahead.second, rows, sum);
    copy_rest(next_item, next.entry);
    output.write(a, scratch[warp], group, sum);
    if (walk.is_last_of_run(item)) output.end_tile(a, images);
    item = next_item;
    now = next;
    next = further;
    buffer ^= 1;
  }
  wait_for_copies<0>();
}

// ------------------------------------------------------------------------------------ host

using Kernel = void (*)(PairLaunch);

template <bool kSplitOut>
Kernel kernel_for(const PairLaunch& launch) {
  return launch.first.parts == 2 ? pair_kernel<kSplitOut, 2> : pair_kernel<kSplitOut, 1>;
}

std::size_t shared_bytes(const GroupView& second) {
  const std::size_t ahead = second.parts == 2 ? sizeof(Staged<2>) : sizeof(Staged<1>);
  return std::size_t{kBuffers} * second.most_part_rows * kInputParts * kRowBytes +
         kGroupWarps * ahead;
}

}  // namespace

bool can_pair(const GroupView& first, const GroupView& second) {
  constexpr std::size_t kStatic = 1024;  // at most
  if (!second.reads_whole_groups || second.most_part_rows > kMostStagedRows) return false;
  if (first.parts != second.parts) return false;
  return fits_shared_memory(shared_bytes(second) + kStatic);
}

void launch_pair(const PairLaunch& launch, int processors, cudaStream_t stream) {
  const Kernel kernel = launch.second.out_form == GroupForm::split ? kernel_for<true>(launch)
                                                                   : kernel_for<false>(launch);
  const LaunchSize size{.threads = kGroupThreads,
                        .shared_bytes = shared_bytes(launch.second.weights)};
  launch_filling(kernel, launch, size, processors, false, stream);
}

}  // namespace winnow::challenge
