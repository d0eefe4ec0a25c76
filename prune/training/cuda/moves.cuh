// Counts of what a new mask changes.
#pragma once

#include "prune/training/cuda/selection.cuh"

namespace winnow {

// Of one thread.
struct Moves {
  unsigned entered = 0, left = 0, kept = 0, kept_weights = 0;

  __device__ void count(const SelectedLayer& layer, unsigned i, bool is_kept) {
    const bool was_kept = __ldg(layer.before + i) != 0;
    entered += is_kept && !was_kept ? 1 : 0;
    left += was_kept && !is_kept ? 1 : 0;
    if (!is_kept) return;
    ++kept;
    kept_weights += i < layer.first_of_last ? layer.block_weights : layer.last_block_weights;
  }
};

// Called by every thread of the block. Counts are integers: they do not depend on the order of the
// blocks.
__device__ inline void add_to_layer(const SelectedLayer& layer, const Moves& moves) {
  __shared__ unsigned sums[kMoveCounts];
  if (threadIdx.x < kMoveCounts) sums[threadIdx.x] = 0;
  __syncthreads();
  const unsigned own[kMoveCounts] = {moves.entered, moves.left, moves.kept, moves.kept_weights};
#pragma unroll
  for (unsigned k = 0; k < kMoveCounts; ++k) {
    const unsigned sum = sum_over_warp(own[k]);
    if (threadIdx.x % kWarpSize == 0) atomicAdd(sums + k, sum);
  }
  __syncthreads();
  if (threadIdx.x >= kMoveCounts) return;
  atomicAdd(layer.moves + threadIdx.x, static_cast<unsigned long long>(sums[threadIdx.x]));
}

}  // namespace winnow
