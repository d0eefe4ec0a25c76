// Weights of a narrow linear layer in the order in which its kernel reads them. Pure host code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/gpu/linear/narrow_index.h"

namespace winnow {

struct NarrowWeights {
  NarrowInputs inputs;
  std::uint32_t outputs = 0;
  std::uint32_t tiles = 0;            // of outputs: 1, 2 or 4
  std::vector<std::uint16_t> values;  // half floats, [chunks][2 steps][tiles][32 lanes][8]
  std::vector<float> bias;            // [tiles * 16], zeros beyond the last output
};

// A chunk's values are matrices A of mma.m16n8k16, zeros where there is no output or input.
//
//   weight  [outputs, inputs.count()], a map's inputs as [channels, positions]
//   bias    [outputs]
//   place   [inputs.channels] where each channel of a map lies; empty: by itself
//
// Throws Error{usage} unless there are 1 to 64 outputs and weight and place have these sizes.
NarrowWeights pack_narrow_weights(std::span<const float> weight, std::span<const float> bias,
                                  const NarrowInputs& inputs, std::span<const std::int32_t> place);

// The numbers of warps worth timing for a layer of so many chunks: 4, and 8 and 16 as far as each
// has a chunk.
std::vector<int> narrow_warps(std::int64_t chunks);

}  // namespace winnow
