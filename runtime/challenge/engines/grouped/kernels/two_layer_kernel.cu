#include "runtime/challenge/engines/grouped/kernels/two_layer_kernel.h"

#include "runtime/challenge/engines/gpu/overlapping_launch.h"
#include "runtime/challenge/engines/grouped/kernels/group_inputs.cuh"
#include "runtime/challenge/engines/grouped/kernels/group_output.cuh"
#include "runtime/challenge/engines/grouped/kernels/shared_rows.cuh"
#include "runtime/device/async_copy.cuh"
#include "runtime/device/cuda_check.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kBuffers = 2;  // one is written while the other is still read

// ---------------------------------------------------------------------------------- device

// A lane's weights of one step; every lane reads what it has copied.
template <int kWeightTerms>
struct PrefetchedWeights {
  uint4 of[kFragments * kWeightTerms][32];  // [term][fragment]

  __device__ void copy(const GroupView& w, std::uint32_t step) {
#pragma unroll
    for (int i = 0; i < kFragments * kWeightTerms; ++i) {
      const std::size_t at = (std::size_t{step} * kFragments * kWeightTerms + i) * 32;
      copy_to_shared(&of[i][threadIdx.x % 32], w.weight + at + threadIdx.x % 32);
    }
  }
  __device__ void read(int fragment, uint4 (&weight)[kWeightTerms]) const {
#pragma unroll
    for (int term = 0; term < kWeightTerms; ++term) {
      weight[term] = of[term * kFragments + fragment][threadIdx.x % 32];
    }
  }
};

// What a warp needs of its next groups, in shared memory, where it takes no registers while it is
// on its way.
template <int kWeightTerms>
struct Prefetched {
  PrefetchedWeights<kWeightTerms> first, second;
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
__device__ __forceinline__ void store_group_to_shared(const float (&sum)[8][4],
                                                      std::uint32_t first_row,
                                                      unsigned char* to_rows) {
  const Lane lane = this_lane();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const SplitChunk values = split_chunk(sum, i);
    const std::uint32_t row = first_row + lane.n + i / 2 * 8, chunk = lane.q + i % 2 * 4;
    *reinterpret_cast<uint4*>(to_rows + shared_chunk(row, 0, chunk)) = values.high;
    *reinterpret_cast<uint4*>(to_rows + shared_chunk(row, 1, chunk)) = values.low;
  }
}

template <int kWeightTerms>
__device__ __forceinline__ void add_bits(const GroupView& w, std::uint32_t step,
                                         const unsigned char* tile, const SumBegin* begin,
                                         float (&sum)[8][4]) {
  BitInputs in[kFragments];
  load_bits(rows_of(w, step), tile, in);
  uint4 weight[kFragments][kWeightTerms];
  load_weights(w, step, weight);
#pragma unroll
  for (int f = 0; f < kFragments; ++f) add(weight[f], in[f], sum, f == 0 ? begin : nullptr);
}

// A group of the first layer, `entry` in GroupView::panel_group. `prefetched`: its first step,
// which is there; null: still in global memory.
template <int kWeightTerms>
__device__ __forceinline__ void compute_first(const GroupView& w, std::uint32_t entry,
                                              const Prefetched<kWeightTerms>* prefetched,
                                              const unsigned char* tile, unsigned char* to_rows) {
  const std::uint32_t group = group_of_entry(entry), number = number_of_entry(entry);
  const Biases bias = prefetched != nullptr ? prefetched->read_bias() : biases_of(w, group);
  const SumBegin begin = begin_of_sums(w, bias);
  float sum[8][4];
  std::uint32_t step = first_step(w, group);
  if (prefetched != nullptr) {
    BitInputs in[kFragments];
    prefetched->read_bits(in);
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
      uint4 weight[kWeightTerms];
      prefetched->first.read(f, weight);
      add(weight, in[f], sum, f == 0 ? &begin : nullptr);
    }
  } else {
    add_bits<kWeightTerms>(w, step, tile, &begin, sum);
  }
  if (w.steps != 1) {
    const std::uint32_t end = __ldg(w.step_begin + group + 1);
    for (++step; step < end; ++step) add_bits<kWeightTerms>(w, step, tile, nullptr, sum);
  }
  end_sum(w, bias, sum);
  store_group_to_shared(sum, number * kGroupOutputs, to_rows);
}

// Copies the carried group as it lies in the panel before: a row's number modulo 8 stays the same.
__device__ __forceinline__ void take_over(const PanelReads& reads, const unsigned char* before,
                                          unsigned char* to_rows) {
  constexpr std::uint32_t kGroupBytes = kGroupOutputs * kInputTerms * kRowBytes;
  static_assert(kGroupBytes == kGroupThreads * sizeof(uint4));
  const auto* from = reinterpret_cast<const uint4*>(before + reads.there() * kGroupBytes);
  auto* to = reinterpret_cast<uint4*>(to_rows + reads.here() * kGroupBytes);
  to[threadIdx.x] = from[threadIdx.x];
}

// What is known of a work tile before its turn.
struct Upcoming {
  PanelReads reads;
  std::uint32_t entry;  // the warp's first group
};

__device__ __forceinline__ Upcoming upcoming_at(const GroupView& w, std::uint32_t panel) {
  return {{__ldg(w.panel_reads + panel)},
          __ldg(w.panel_group + panel * kMostPanelReads + threadIdx.x / 32)};
}

// The warp's group of the second layer; `local`: the inputs of its first step, as GroupView's.
template <int kWeightTerms>
__device__ __forceinline__ void sum_second(const GroupView& w, std::uint32_t group,
                                           const Biases& bias, const uint2 (&local)[kFragments],
                                           const PrefetchedWeights<kWeightTerms>& weights,
                                           const unsigned char* rows, float (&sum)[8][4]) {
  const SumBegin begin = begin_of_sums(w, bias);
  Step<kWeightTerms> step;
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
    step.local[f] = local[f];
    weights.read(f, step.weight[f]);
  }
  add_step<kWeightTerms>(step, rows, sum, &begin);
  add_further_steps<kWeightTerms>(w, group, rows, sum);
  end_sum(w, bias, sum);
}

template <bool kSplitOut, int kWeightTerms>
__global__ void __launch_bounds__(kGroupThreads, 2) two_layer_kernel(const TwoLayerLaunch launch) {
  using Output = GroupOutput<kSplitOut, false>;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ typename Output::Scratch scratch[kGroupWarps];
  const GroupLaunch& a = launch.second;
  const GroupView& w = a.weights;
  const std::uint32_t warp = threadIdx.x / 32;
  const std::uint32_t buffer_bytes = w.most_panel_rows * kInputTerms * kRowBytes;
  const TileScheduler scheduler(w.groups, a.order.strip_panels, 0, blockIdx.x, gridDim.x);
  const std::uint32_t images = *a.count;
  const std::uint32_t tiles = (images + kGroupImages - 1) / kGroupImages;
  const auto bits_of = [&](const WorkTile& work) {
    return static_cast<const unsigned char*>(a.in) +
           std::size_t{scheduler.tile(work)} * a.bit_rows * (kGroupImages / 8);
  };
  const auto group_of = [&](const WorkTile& work) {
    return min(scheduler.panel(work) * kGroupWarps + warp, w.groups - 1);
  };
  auto& prefetched =
      reinterpret_cast<Prefetched<kWeightTerms>*>(memory + kBuffers * buffer_bytes)[warp];
  const auto copy_rows = [&](std::uint32_t entry) {
    __syncwarp();  // all lanes have read the rows before
    prefetched.copy_rows(launch.first, group_of_entry(entry));
    end_of_copies();
  };
  // Of the group whose rows are there.
  const auto copy_rest = [&](const WorkTile& work, std::uint32_t entry) {
    wait_for_copies<0>();
    __syncwarp();
    if (!scheduler.is_end(work, tiles)) prefetched.copy_bits(bits_of(work));
    prefetched.copy_bias(launch.first, group_of_entry(entry));
    prefetched.first.copy(launch.first, first_step(launch.first, group_of_entry(entry)));
    prefetched.second.copy(w, first_step(w, group_of(work)));
    end_of_copies();
  };
  Output output;
  std::uint32_t buffer = 0;
  WorkTile work = scheduler.begin();
  Upcoming now = upcoming_at(w, scheduler.panel(work)),
           next = upcoming_at(w, scheduler.panel(scheduler.after(work)));
  copy_rows(now.entry);
  copy_rest(work, now.entry);
  while (!scheduler.is_end(work, tiles)) {
    const WorkTile next_work = scheduler.after(work);
    const Upcoming further = upcoming_at(w, scheduler.panel(scheduler.after(next_work)));
    copy_rows(next.entry);
    const std::uint32_t group = group_of(work);
    uint2 local[kFragments];
    load_local(w, first_step(w, group), local);
    const Biases bias = biases_of(w, group);
    unsigned char* rows = memory + buffer * buffer_bytes;
    const bool takes_over = work.i > 0 && now.reads.is_carried();
    if (takes_over) take_over(now.reads, memory + (buffer ^ 1) * buffer_bytes, rows);
    const std::uint32_t computed = now.reads.groups() - (takes_over ? 1 : 0);
    wait_for_copies<1>();  // but not for the rows of the next work tile
    __syncwarp();
    if (warp < computed) compute_first(launch.first, now.entry, &prefetched, bits_of(work), rows);
    for (std::uint32_t k = warp + kGroupWarps; k < computed; k += kGroupWarps) {
      const std::uint32_t entry =
          __ldg(w.panel_group + scheduler.panel(work) * kMostPanelReads + k);
      compute_first<kWeightTerms>(launch.first, entry, nullptr, bits_of(work), rows);
    }
    __syncthreads();
    if (work.i == 0) output.begin_tile(a, scratch[warp], scheduler.tile(work), false);
    float sum[8][4];
    sum_second<kWeightTerms>(w, group, bias, local, prefetched.second, rows, sum);
    copy_rest(next_work, next.entry);
    output.write(a, scratch[warp], group, sum);
    if (scheduler.is_last_of_strip(work)) output.end_tile(a, images);
    work = next_work;
    now = next;
    next = further;
    buffer ^= 1;
  }
  wait_for_copies<0>();
}

// ------------------------------------------------------------------------------------ host

using Kernel = void (*)(TwoLayerLaunch);

template <bool kSplitOut>
Kernel kernel_for(const TwoLayerLaunch& launch) {
  return launch.first.weight_terms == 2 ? two_layer_kernel<kSplitOut, 2>
                                        : two_layer_kernel<kSplitOut, 1>;
}

std::size_t shared_bytes(const GroupView& second) {
  const std::size_t prefetched =
      second.weight_terms == 2 ? sizeof(Prefetched<2>) : sizeof(Prefetched<1>);
  return std::size_t{kBuffers} * second.most_panel_rows * kInputTerms * kRowBytes +
         kGroupWarps * prefetched;
}

}  // namespace

bool can_fuse_two_layers(const GroupView& first, const GroupView& second) {
  constexpr std::size_t kStatic = 1024;  // at most
  if (!second.reads_whole_groups || second.most_panel_rows > kMostSharedRows) return false;
  if (first.weight_terms != second.weight_terms) return false;
  return fits_shared_memory(shared_bytes(second) + kStatic);
}

void launch_two_layers(const TwoLayerLaunch& launch, int sms, cudaStream_t stream) {
  const Kernel kernel = launch.second.out_form == GroupForm::split ? kernel_for<true>(launch)
                                                                   : kernel_for<false>(launch);
  const LaunchSize size{.threads = kGroupThreads,
                        .shared_bytes = shared_bytes(launch.second.weights)};
  launch_filling(kernel, launch, size, sms, false, stream);
}

}  // namespace winnow::challenge
