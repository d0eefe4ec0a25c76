// Which outputs of a layer read exactly the same inputs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/challenge/network.h"

namespace winnow::challenge {

// The inputs that an output reads, ascending. Stays valid as long as `layer` does.
std::span<const std::uint32_t> inputs_of(const SparseLayer& layer, std::uint32_t output);

// All outputs of a layer, those that read the same inputs one after the other.
struct OutputSets {
  std::vector<std::uint32_t> output;       // [outputs], ascending within a set
  std::vector<std::uint32_t> begin = {0};  // [sets + 1] where each set begins in `output`

  std::size_t size() const { return begin.size() - 1; }
  std::span<const std::uint32_t> operator[](std::size_t set) const {
    return std::span(output).subspan(begin[set], begin[set + 1] - begin[set]);
  }
};

// The sets come in an order that looks random but depends on `layer` alone.
OutputSets find_equal_inputs(const SparseLayer& layer);

}  // namespace winnow::challenge
