// Two buffers: while a part is computed from one, the rows of the next come to the other.
#include "runtime/challenge/gpu/staged_kernel.h"

#include <algorithm>

#include "runtime/challenge/gpu/async_copy.cuh"
#include "runtime/challenge/gpu/group_math.cuh"
#include "runtime/challenge/gpu/group_output.cuh"
#include "runtime/challenge/gpu/overlapping_launch.h"
#include "runtime/challenge/gpu/staged_rows.cuh"
#include "runtime/device/cuda_check.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kMostRows = kGroupThreads;  // a thread names a row
constexpr std::uint32_t kStages = 2;  // parts whose rows are in shared memory or on their way

// ---------------------------------------------------------------------------------- device

// Begins to copy the rows of a part, whose numbers are in `row`.
__device__ __forceinline__ void copy_rows(const unsigned char* tile, const std::uint32_t* row,
                                          std::uint32_t count, unsigned char* to) {
  constexpr std::uint32_t kChunks = kInputParts * kRowBytes / 16;  // of a row
  const std::uint32_t chunk = threadIdx.x % kChunks;
  for (std::uint32_t r = threadIdx.x / kChunks; r < count; r += kGroupThreads / kChunks) {
    copy_to_shared(to + staged_at(r, chunk / 8, chunk % 8),
                   tile + (std::size_t{row[r]} * kChunks + chunk) * 16);
  }
}

template <bool kSplitOut, int kWeightParts, bool kMoves>
__global__ void __launch_bounds__(kGroupThreads, 2) staged_kernel(const GroupLaunch a) {
  using Output = GroupOutput<kSplitOut, kMoves>;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ typename Output::Scratch scratch[kGroupWarps];
  __shared__ std::uint32_t numbers[2][kMostRows];
  const GroupView& w = a.weights;
  const std::uint32_t warp = threadIdx.x / 32;
  const std::uint32_t buffer_bytes = w.most_part_rows * kInputParts * kRowBytes;
  const std::size_t tile_bytes = std::size_t{a.rows} * kInputParts * kRowBytes;
  const std::uint32_t parts = (w.groups + kGroupWarps - 1) / kGroupWarps;
  const Walk walk{parts, a.run, (parts + a.run - 1) / a.run};

  const auto group_of = [&](const Item& item) {
    return min(item.part * kGroupWarps + warp, w.groups - 1);
  };
  const auto first_step = [&](std::uint32_t group) {
    return w.steps != 0 ? group * w.steps : __ldg(w.step_begin + group);
  };
  const auto number_in = [&](const Item& item) {
    const std::uint32_t begin = __ldg(w.part_begin + item.part);
    const std::uint32_t count = __ldg(w.part_begin + item.part + 1) - begin;
    return threadIdx.x < count ? __ldg(w.part_row + begin + threadIdx.x) : 0;
  };
  Item item = walk.at(blockIdx.x);
  Step<kWeightParts> step = step_at<kWeightParts>(w, first_step(group_of(item)));
  numbers[1][threadIdx.x] = number_in(item);
  __syncthreads();
  wait_for_launch_before();

  const std::uint32_t images = *a.count;
  const std::uint32_t tiles = (images + kGroupImages - 1) / kGroupImages;
  const std::uint32_t end = tiles * walk.runs;
  const auto tile_of = [&](const Item& i) {
    return a.is_reverse ? tiles - 1 - i.work / walk.runs : i.work / walk.runs;
  };
  const auto copy = [&](const Item& i, const std::uint32_t* rows, std::uint32_t stage) {
    if (i.work < end) {
      const std::uint32_t begin = __ldg(w.part_begin + i.part);
      const std::uint32_t count = __ldg(w.part_begin + i.part + 1) - begin;
      copy_rows(static_cast<const unsigned char*>(a.in) + tile_of(i) * tile_bytes,
                rows != nullptr ? rows : w.part_row + begin, count, memory + stage * buffer_bytes);
    }
    end_of_copies();
  };
  Item ahead = item;  // its copies are the next to begin
  for (std::uint32_t stage = 0; stage + 1 < kStages; ++stage) {
    copy(ahead, stage == 0 ? numbers[1] : nullptr, stage);
    ahead = walk.after(ahead);
  }
  numbers[0][threadIdx.x] = number_in(ahead);
  Output output;
  for (std::uint32_t i = 0; item.work < end; ++i) {
    const Item next = walk.after(item), further = walk.after(ahead);
    const std::uint32_t number = number_in(further);
    wait_for_copies<kStages - 2>();
    __syncthreads();  // this item's rows are there, and those of the one before are done with
    copy(ahead, numbers[i % 2], (i + kStages - 1) % kStages);

    if (item.part == walk.at(item.work).part) {
      output.begin_tile(a, scratch[warp], tile_of(item), item.part == 0 && warp == 0);
    }
    const std::uint32_t group = group_of(item);
    const Biases bias = biases_of(w, group);
    const unsigned char* rows = memory + i % kStages * buffer_bytes;
    float sum[8][4];
    begin_sum(w, bias, sum);
    add_step<kWeightParts>(step, rows, sum);
    if (w.steps != 1) {
      const std::uint32_t last_step = __ldg(w.step_begin + group + 1);
      for (std::uint32_t s = first_step(group) + 1; s < last_step; ++s) {
        add_step<kWeightParts>(step_at<kWeightParts>(w, s), rows, sum);
      }
    }
    step = step_at<kWeightParts>(w, first_step(group_of(next)));
    end_sum(w, bias, sum);
    output.write(a, scratch[warp], group, sum);
    if (item.part + 1 == item.last_part) output.end_tile(a, images);
    numbers[(i + 1) % 2][threadIdx.x] = number;
    item = next;
    ahead = further;
  }
}

// ------------------------------------------------------------------------------------ host

using Kernel = void (*)(GroupLaunch);

template <bool kSplitOut, int kWeightParts>
Kernel kernel_for(const GroupLaunch& launch) {
  return launch.keep != nullptr ? staged_kernel<kSplitOut, kWeightParts, true>
                                : staged_kernel<kSplitOut, kWeightParts, false>;
}

template <bool kSplitOut>
Kernel kernel_for(const GroupLaunch& launch) {
  if (launch.weights.parts == 2) return kernel_for<kSplitOut, 2>(launch);
  return kernel_for<kSplitOut, 1>(launch);
}

std::size_t shared_bytes(const GroupLaunch& launch) {
  return std::size_t{kStages} * launch.weights.most_part_rows * kInputParts * kRowBytes;
}

}  // namespace

bool can_stage(const GroupLaunch& launch) {
  constexpr std::size_t kStatic = 48 * 1024;  // at most
  const std::uint32_t rows = launch.weights.most_part_rows;
  if (launch.in_form != GroupForm::split || rows > kMostRows) return false;
  return fits_shared_memory(shared_bytes(launch) + kStatic);
}

void launch_staged_layer(const GroupLaunch& launch, int processors, cudaStream_t stream) {
  const Kernel kernel =
      launch.out_form == GroupForm::split ? kernel_for<true>(launch) : kernel_for<false>(launch);
  const LaunchSize size{.threads = kGroupThreads, .shared_bytes = shared_bytes(launch)};
  launch_filling(kernel, launch, size, processors, true, stream);
}

}  // namespace winnow::challenge
