// Two buffers: while a panel is computed from one, the rows of the next come to the other.
#include "runtime/challenge/engines/grouped/kernels/double_buffered_kernel.h"

#include "runtime/challenge/engines/grouped/kernels/group_inputs.cuh"
#include "runtime/challenge/engines/grouped/kernels/group_math.cuh"
#include "runtime/challenge/engines/grouped/kernels/group_output.cuh"
#include "runtime/challenge/engines/grouped/kernels/shared_rows.cuh"
#include "runtime/device/async_copy.cuh"
#include "runtime/device/cuda_check.h"
#include "runtime/device/overlap.cuh"
#include "runtime/device/overlapping_launch.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kMostRows = kGroupThreads;  // a thread names a row
constexpr std::uint32_t kBuffers = 2;

// ---------------------------------------------------------------------------------- device

// Begins to copy the rows of a panel, whose numbers are in `row`.
__device__ __forceinline__ void copy_rows(const unsigned char* tile, const std::uint32_t* row,
                                          std::uint32_t count, unsigned char* to) {
  constexpr std::uint32_t kChunks = kInputTerms * kRowBytes / 16;  // of a row
  const std::uint32_t chunk = threadIdx.x % kChunks;
  for (std::uint32_t r = threadIdx.x / kChunks; r < count; r += kGroupThreads / kChunks) {
    copy_to_shared(to + shared_chunk(r, chunk / 8, chunk % 8),
                   tile + (std::size_t{row[r]} * kChunks + chunk) * 16);
  }
}

// The rows that a panel reads, in GroupView::panel_row.
struct PanelRows {
  std::uint32_t begin, count;
};

template <bool kSplitOut, int kWeightTerms, bool kMoves>
__global__ void __launch_bounds__(kGroupThreads, 2) double_buffered_kernel(const GroupLaunch a) {
  using Output = GroupOutput<kSplitOut, kMoves>;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ typename Output::Scratch scratch[kGroupWarps];
  __shared__ std::uint32_t numbers[kBuffers][kMostRows];
  const GroupView& w = a.weights;
  const std::uint32_t warp = threadIdx.x / 32;
  const std::uint32_t buffer_bytes = w.most_panel_rows * kInputTerms * kRowBytes;
  const std::size_t tile_bytes = std::size_t{a.rows} * kInputTerms * kRowBytes;
  const TileScheduler scheduler(w.groups, a.order.strip_panels, a.order.tile_set_log2, blockIdx.x,
                                gridDim.x);

  const auto group_of = [&](const WorkTile& work) {
    return min(scheduler.panel(work) * kGroupWarps + warp, w.groups - 1);
  };
  const auto rows_of_panel = [&](const WorkTile& work) {
    const std::uint32_t panel = scheduler.panel(work), begin = __ldg(w.panel_begin + panel);
    return PanelRows{begin, __ldg(w.panel_begin + panel + 1) - begin};
  };
  const auto number_in = [&](const PanelRows& rows) {
    return threadIdx.x < rows.count ? __ldg(w.panel_row + rows.begin + threadIdx.x) : 0;
  };
  WorkTile work = scheduler.begin(), next = scheduler.after(work);
  PanelRows next_rows = rows_of_panel(next), further_rows = rows_of_panel(scheduler.after(next));
  const PanelRows first_rows = rows_of_panel(work);
  Step<kWeightTerms> step = step_at<kWeightTerms>(w, first_step(w, group_of(work)));
  numbers[1][threadIdx.x] = number_in(first_rows);
  numbers[0][threadIdx.x] = number_in(next_rows);
  __syncthreads();
  begin_next_launch();
  wait_for_launch_before();

  const std::uint32_t images = *a.count;
  const std::uint32_t tiles = (images + kGroupImages - 1) / kGroupImages;
  const auto tile_of = [&](const WorkTile& i) {
    return a.order.is_reverse ? tiles - 1 - scheduler.tile(i) : scheduler.tile(i);
  };
  const auto is_there = [&](const WorkTile& i) { return scheduler.tile(i) < tiles; };
  const auto copy = [&](const WorkTile& i, std::uint32_t count, const std::uint32_t* rows,
                        std::uint32_t buffer) {
    if (is_there(i)) {
      copy_rows(static_cast<const unsigned char*>(a.in) + tile_of(i) * tile_bytes, rows, count,
                memory + buffer * buffer_bytes);
    }
    end_of_copies();
  };
  copy(work, first_rows.count, numbers[1], 0);
  Output output;
  if (is_there(work)) output.prefetch_tile(a, tile_of(work));
  for (std::uint32_t i = 0; !scheduler.is_end(work, tiles); ++i) {
    const WorkTile further = scheduler.after(next);
    const std::uint32_t number = number_in(further_rows);
    const PanelRows later_rows = rows_of_panel(scheduler.after(further));
    wait_for_copies<0>();
    __syncthreads();  // this work tile's rows are there, those of the one before are done with
    copy(next, next_rows.count, numbers[i % kBuffers], (i + 1) % kBuffers);

    const bool has_tile = is_there(work);
    if (has_tile && work.i == 0) {
      output.begin_tile(a, scratch[warp], tile_of(work), scheduler.panel(work) == 0 && warp == 0);
    }
    const std::uint32_t group = group_of(work);
    // Not fetched before: warps that wait here do not write all at once, which memory takes badly.
    const Biases bias = biases_of(w, group);
    float sum[8][4];
    if (has_tile) {
      const SumBegin begin = begin_of_sums(w, bias);
      const unsigned char* rows = memory + i % kBuffers * buffer_bytes;
      add_step<kWeightTerms>(step, rows, sum, &begin);
      add_further_steps<kWeightTerms>(w, group, rows, sum);
    }
    step = step_at<kWeightTerms>(w, first_step(w, group_of(next)));
    if (next.i == 0 && is_there(next)) output.prefetch_tile(a, tile_of(next));
    if (has_tile) {
      end_sum(w, bias, sum);
      output.write(a, scratch[warp], group, sum);
      if (scheduler.is_last_of_strip(work)) output.end_tile(a, images);
    }
    numbers[(i + 1) % kBuffers][threadIdx.x] = number;
    work = next;
    next = further;
    next_rows = further_rows;
    further_rows = later_rows;
  }
}

// ------------------------------------------------------------------------------------ host

using Kernel = void (*)(GroupLaunch);

template <bool kSplitOut, int kWeightTerms>
Kernel kernel_for(const GroupLaunch& launch) {
  return launch.moves.keep != nullptr ? double_buffered_kernel<kSplitOut, kWeightTerms, true>
                                      : double_buffered_kernel<kSplitOut, kWeightTerms, false>;
}

template <bool kSplitOut>
Kernel kernel_for(const GroupLaunch& launch) {
  if (launch.weights.weight_terms == 2) return kernel_for<kSplitOut, 2>(launch);
  return kernel_for<kSplitOut, 1>(launch);
}

std::size_t shared_bytes(const GroupLaunch& launch) {
  return std::size_t{kBuffers} * launch.weights.most_panel_rows * kInputTerms * kRowBytes;
}

}  // namespace

bool can_double_buffer(const GroupLaunch& launch) {
  constexpr std::size_t kStatic = 48 * 1024;  // at most
  const std::uint32_t rows = launch.weights.most_panel_rows;
  if (launch.in_form != GroupForm::split || rows > kMostRows) return false;
  return fits_shared_memory(shared_bytes(launch) + kStatic);
}

void launch_double_buffered_layer(const GroupLaunch& launch, int sms, cudaStream_t stream) {
  const Kernel kernel =
      launch.out_form == GroupForm::split ? kernel_for<true>(launch) : kernel_for<false>(launch);
  const LaunchSize size{.threads = kGroupThreads, .shared_bytes = shared_bytes(launch)};
  launch_filling(kernel, size, sms, true, stream, launch);
}

}  // namespace winnow::challenge
