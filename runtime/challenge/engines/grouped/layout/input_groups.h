// Outputs of a layer that read the same inputs, found by hashing; nothing about the challenge's
// networks is built in. Pure host code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/challenge/network.h"

namespace winnow::challenge {

inline constexpr std::uint32_t kGroupOutputs = 16;

// Group g has the outputs output[output_begin[g] .. output_begin[g + 1]), 1 to kGroupOutputs of
// them, and the inputs input[input_begin[g] .. input_begin[g + 1]), ascending. Every output is in
// one group, and a group's inputs are all that one of its outputs reads.
struct InputGroups {
  std::vector<std::uint32_t> input_begin = {0};
  std::vector<std::uint32_t> input;
  std::vector<std::uint32_t> output_begin = {0};
  std::vector<std::uint32_t> output;

  std::uint32_t size() const { return static_cast<std::uint32_t>(input_begin.size()) - 1; }
  std::span<const std::uint32_t> inputs(std::uint32_t g) const;
  std::span<const std::uint32_t> outputs(std::uint32_t g) const;
};

// Outputs that read exactly the same inputs come into one group, as long as there is room. What is
// left over, outputs that have too few equals to fill a group, is put together in the order of
// inputs; such groups read the union of their outputs' inputs.
InputGroups find_input_groups(const SparseLayer& layer);

// Orders groups so that one follows another with which it has inputs in common, where there are
// such; whoever computes neighbours at the same time finds inputs in the cache.
InputGroups chain_groups(const InputGroups& groups, std::uint32_t inputs);

// Which groups read an input i: group[begin[i] .. begin[i + 1]).
struct GroupReaders {
  std::vector<std::uint32_t> begin;
  std::vector<std::uint32_t> group;

  std::span<const std::uint32_t> of(std::uint32_t input) const;
};
GroupReaders readers_of(const InputGroups& groups, std::uint32_t inputs);

}  // namespace winnow::challenge
