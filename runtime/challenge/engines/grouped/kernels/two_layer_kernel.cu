#include "runtime/challenge/engines/grouped/kernels/two_layer_kernel.h"

#include "runtime/challenge/engines/grouped/kernels/group_output.cuh"
#include "runtime/challenge/engines/grouped/kernels/shared_rows.cuh"
#include "runtime/challenge/engines/grouped/kernels/two_layer_prefetch.cuh"
#include "runtime/challenge/engines/grouped/kernels/two_layer_sums.cuh"
#include "runtime/device/async_copy.cuh"
#include "runtime/device/cuda_check.h"
#include "runtime/device/overlapping_launch.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kBuffers = 2;  // one is written while the other is still read

// ---------------------------------------------------------------------------------- device

// What is known of a work tile before its turn.
struct Upcoming {
  PanelReads reads;
  std::uint32_t entry;  // the warp's first group
};

__device__ __forceinline__ Upcoming upcoming_at(const GroupView& w, std::uint32_t panel) {
  return {{__ldg(w.panel_reads + panel)},
          __ldg(w.panel_group + panel * kMostPanelReads + threadIdx.x / 32)};
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
  launch_filling(kernel, size, sms, false, stream, launch);
}

}  // namespace winnow::challenge
