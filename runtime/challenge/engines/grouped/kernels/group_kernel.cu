// Inputs come straight from global memory: for bits, and for layers whose groups read too many
// different inputs for shared memory (double_buffered_kernel.cu).
#include "runtime/challenge/engines/grouped/kernels/group_kernel.h"

#include "runtime/base/error.h"
#include "runtime/challenge/engines/grouped/kernels/double_buffered_kernel.h"
#include "runtime/challenge/engines/grouped/kernels/group_inputs.cuh"
#include "runtime/challenge/engines/grouped/kernels/group_math.cuh"
#include "runtime/challenge/engines/grouped/kernels/group_output.cuh"
#include "runtime/challenge/engines/grouped/kernels/prefetch_kernel.h"
#include "runtime/device/overlap.cuh"
#include "runtime/device/overlapping_launch.h"

namespace winnow::challenge {
namespace {

constexpr int kBlocksPerSm = 2;

// ---------------------------------------------------------------------------------- device

template <GroupForm kForm, int kWeightTerms>
__device__ __forceinline__ void add_step(const GroupView& w, std::uint32_t step,
                                         const StepRows& rows, const unsigned char* tile,
                                         float (&sum)[8][4], const SumBegin* begin = nullptr) {
  uint4 weight[kFragments][kWeightTerms];
  load_weights(w, step, weight);
  if constexpr (kForm == GroupForm::bits) {
    BitInputs in[kFragments];
    load_bits(rows, tile, in);
#pragma unroll
    for (int f = 0; f < kFragments; ++f) add(weight[f], in[f], sum, f == 0 ? begin : nullptr);
  } else {
    constexpr int kTerms = kForm == GroupForm::split ? 2 : 1;
    const std::uint32_t chunk = this_lane().chunk();
    Inputs in[kTerms][kFragments];
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const unsigned char* row =
            tile + std::size_t{word_of(rows.of[f], k)} * (kTerms * kRowBytes) + chunk * 16;
#pragma unroll
        for (int term = 0; term < kTerms; ++term) {
          in[term][f].row[k] = *reinterpret_cast<const uint4*>(row + term * kRowBytes);
        }
      }
    }
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
      add<kWeightTerms>(weight[f], in[0][f], sum, f == 0 ? begin : nullptr);
      if constexpr (kTerms == 2) {
        const uint4 high[1] = {weight[f][0]};  // low x low is beyond 22 bits
        add<1>(high, in[1][f], sum);
      }
    }
  }
}

// All blocks work on the same few tiles, so that these stay in the L2 cache; a block takes a strip
// of neighbouring groups, which have inputs in common.
template <GroupForm kIn, bool kSplitOut, int kWeightTerms, bool kMoves>
__global__ void __launch_bounds__(kGroupThreads, kBlocksPerSm) group_kernel(const GroupLaunch a) {
  using Output = GroupOutput<kSplitOut, kMoves>;
  __shared__ typename Output::Scratch scratch[kGroupWarps];
  const std::uint32_t warp = threadIdx.x / 32;
  const std::uint32_t panels = (a.weights.groups + kGroupWarps - 1) / kGroupWarps;
  const std::uint32_t strips =
      (panels + a.order.strip_panels - 1) / a.order.strip_panels;  // of a tile
  const std::size_t tile_bytes =
      kIn == GroupForm::bits ? std::size_t{a.bit_rows} * (kGroupImages / 8)
                             : std::size_t{a.rows} * (kIn == GroupForm::split ? 2 : 1) * kRowBytes;
  const auto group_of = [&](std::uint32_t panel) {  // the last panel may be short
    return min(panel * kGroupWarps + warp, a.weights.groups - 1);
  };
  const auto rows_at = [&](std::uint32_t group) {
    return rows_of(a.weights, first_step(a.weights, group));
  };
  StepRows rows = rows_at(group_of(blockIdx.x % strips * a.order.strip_panels));
  if (kIn != GroupForm::bits) {
    begin_next_launch();
    wait_for_launch_before();
  }
  const std::uint32_t images = *a.count;
  const std::uint32_t tiles = (images + kGroupImages - 1) / kGroupImages;
  Output output;
  for (std::uint32_t work = blockIdx.x; work < tiles * strips; work += gridDim.x) {
    const std::uint32_t tile = a.order.is_reverse ? tiles - 1 - work / strips : work / strips;
    const unsigned char* in = static_cast<const unsigned char*>(a.in) + tile * tile_bytes;
    const std::uint32_t first_panel = work % strips * a.order.strip_panels;
    const std::uint32_t last_panel = min(first_panel + a.order.strip_panels, panels);
    output.prefetch_tile(a, tile);
    output.begin_tile(a, scratch[warp], tile, first_panel == 0 && warp == 0);
    for (std::uint32_t panel = first_panel; panel < last_panel; ++panel) {
      const std::uint32_t group = group_of(panel);
      const Biases bias = biases_of(a.weights, group);
      const std::uint32_t step = first_step(a.weights, group);
      const SumBegin begin = begin_of_sums(a.weights, bias);
      float sum[8][4];
      add_step<kIn, kWeightTerms>(a.weights, step, rows, in, sum, &begin);
      if (a.weights.steps != 1) {
        const std::uint32_t last_step = __ldg(a.weights.step_begin + group + 1);
        for (std::uint32_t s = step + 1; s < last_step; ++s) {
          add_step<kIn, kWeightTerms>(a.weights, s, rows_of(a.weights, s), in, sum);
        }
      }
      const std::uint32_t next =
          panel + 1 < last_panel ? panel + 1 : (work + gridDim.x) % strips * a.order.strip_panels;
      rows = rows_at(group_of(next));
      end_sum(a.weights, bias, sum);
      output.write(a, scratch[warp], group, sum);
    }
    output.end_tile(a, images);
  }
}

// ------------------------------------------------------------------------------------ host

using Kernel = void (*)(GroupLaunch);

template <GroupForm kIn, bool kSplitOut, int kWeightTerms>
Kernel kernel_for(const GroupLaunch& launch) {
  if constexpr (kIn != GroupForm::bits) {
    if (launch.moves.keep != nullptr) return group_kernel<kIn, kSplitOut, kWeightTerms, true>;
  }
  return group_kernel<kIn, kSplitOut, kWeightTerms, false>;
}

template <GroupForm kIn, bool kSplitOut>
Kernel kernel_for(const GroupLaunch& launch) {
  if (launch.weights.weight_terms == 2) return kernel_for<kIn, kSplitOut, 2>(launch);
  return kernel_for<kIn, kSplitOut, 1>(launch);
}

Kernel kernel_for(const GroupLaunch& launch) {
  const bool splits = launch.out_form == GroupForm::split;
  switch (launch.in_form) {
    case GroupForm::bits:
      return splits ? kernel_for<GroupForm::bits, true>(launch)
                    : kernel_for<GroupForm::bits, false>(launch);
    case GroupForm::split:
      return splits ? kernel_for<GroupForm::split, true>(launch)
                    : kernel_for<GroupForm::split, false>(launch);
    case GroupForm::half:
      if (splits) break;
      return kernel_for<GroupForm::half, false>(launch);
  }
  fail(ErrorCode::internal, "group kernel: no such form");
}

}  // namespace

void launch_group_layer(const GroupLaunch& launch, int sms, cudaStream_t stream) {
  if (can_double_buffer(launch)) return launch_double_buffered_layer(launch, sms, stream);
  if (can_prefetch(launch)) return launch_prefetch_layer(launch, sms, stream);
  const LaunchSize size{.blocks = static_cast<unsigned>(sms * kBlocksPerSm),
                        .threads = kGroupThreads};
  launch_overlapping(kernel_for(launch), size, launch.in_form != GroupForm::bits, stream, launch);
}

}  // namespace winnow::challenge
