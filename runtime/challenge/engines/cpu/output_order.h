// Which outputs of a layer read the same inputs.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/challenge/network.h"

namespace winnow::challenge {

// An order of a layer's outputs in which those that read the same inputs follow each other.
struct OutputOrder {
  std::vector<std::uint32_t> output;       // [outputs] the layer's own numbers, by place
  std::vector<std::uint32_t> group_begin;  // [groups + 1] places; a group reads the same inputs
};

// Groups come in the order of their first output, outputs of a group ascend.
OutputOrder order_by_inputs(const SparseLayer& layer);

// The inverse: the place of each output.
std::vector<std::uint32_t> places(const OutputOrder& order);

}  // namespace winnow::challenge
