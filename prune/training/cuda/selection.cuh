// What the kernels of selection_kernels.h share.
#pragma once

#include <cfloat>

#include "prune/training/cuda/selection_kernels.h"
#include "prune/training/cuda/warp_sum.cuh"

namespace winnow {

constexpr int kSelectionThreads = 256;
constexpr int kSelectionWarps = kSelectionThreads / kWarpSize;
constexpr int kMostBins = 2048;  // of the digits: 11, 11 and 10 bits

// Of one layer, in the workspace. What a pass of digits leaves is the next one's input.
struct Selection {
  unsigned prefix;     // the threshold's upper digits; in the end all of its key
  unsigned remaining;  // values to keep of those that begin with the prefix
  unsigned equals;     // values that begin with the prefix
  unsigned finished;   // blocks of the pass that have added their counts
  unsigned bins[kMostBins];
};

// Unsigned integers in the order of the floats, equal for equal floats. As after nan_to_num(-1.0):
// NaN counts as -1, infinities as the largest floats.
__device__ inline unsigned order_key(float value) {
  if (isnan(value)) value = -1.0f;
  unsigned bits = __float_as_uint(fminf(fmaxf(value, -FLT_MAX), FLT_MAX));
  if (bits == 0x80000000u) bits = 0;  // -0 equals 0
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

// The values that the block works on.
struct Chunk {
  SelectedLayer layer;
  Selection* selection;
  unsigned first, last;

  __device__ explicit Chunk(const SelectionCall& call) {
    const unsigned index = call.layer_of_chunk[blockIdx.x];
    layer = call.layers[index];
    selection = reinterpret_cast<Selection*>(call.workspace) + index;
    first = (blockIdx.x - layer.first_chunk) * kChunkValues;
    last = min(layer.length, first + kChunkValues);
  }
};

}  // namespace winnow
