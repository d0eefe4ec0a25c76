// The weights of a group as a dense matrix. What grouped_layer.cpp is built with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/challenge/engines/grouped/layout/input_groups.h"
#include "runtime/challenge/network.h"

namespace winnow::challenge {

// The inputs of a panel of groups, and the local numbers under which they are read.
class PanelInputs {
 public:
  // As inputs_of_panel(). A panel without inputs gets input 0: what fills a step reads it.
  PanelInputs(const InputGroups& groups, std::uint32_t first_group,
              const std::vector<std::uint32_t>& row_of_input);

  const std::vector<std::uint32_t>& inputs() const { return input_; }  // by local number

  // A group's inputs in the order of columns, by local number.
  std::vector<std::uint32_t> columns(std::span<const std::uint32_t> inputs) const;

 private:
  struct Number {
    std::uint32_t input, number;
  };
  std::vector<std::uint32_t> input_;  // by local number
  std::vector<Number> numbers_;       // by input
};

// The weights of a group's outputs for its inputs, [16][steps x 32], zeros where there is none.
class DenseGroup {
 public:
  // Group g of `layer`; weights are multiplied by `scale`.
  DenseGroup(const SparseLayer& layer, const InputGroups& groups, std::uint32_t g,
             const PanelInputs& panel, float scale);

  std::uint32_t steps() const { return steps_; }  // at least 1
  float weight(std::uint32_t row, std::uint32_t k) const;
  // Local number of the input of column k. What fills a step reads the group's first, weight 0.
  std::uint32_t local(std::uint32_t k) const;

 private:
  std::vector<std::uint32_t> column_;
  std::uint32_t steps_;
  std::vector<float> weight_;
};

}  // namespace winnow::challenge
