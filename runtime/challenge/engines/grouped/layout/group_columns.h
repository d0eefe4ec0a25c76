// Which column of a group's steps belongs to which input. What grouped_layer.cpp is built with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/challenge/engines/grouped/layout/group_panels.h"

namespace winnow::challenge {

inline constexpr std::uint32_t kStepInputs = 32;  // of one step: two fragments

// How many steps a group of so many inputs takes; at least 1.
constexpr std::uint32_t steps_of_inputs(std::size_t inputs) {
  return inputs == 0 ? 1 : static_cast<std::uint32_t>((inputs + kStepInputs - 1) / kStepInputs);
}

// The columns of one group after the other.
class GroupColumns {
 public:
  // Goes to a group with these inputs, of the panel at which `panel` is.
  void go_to(std::span<const std::uint32_t> inputs, const PanelInputs& panel);

  std::uint32_t steps() const { return steps_of_inputs(local_.size()); }

  // Local number of the input of column k. What fills a step reads the group's first, weight 0.
  std::uint32_t local(std::uint32_t k) const;

  // The column of the group's n-th input.
  std::uint32_t column(std::size_t n) const { return column_[n]; }

 private:
  std::vector<std::uint32_t> sorted_;            // local numbers
  std::vector<std::uint32_t> local_;             // by column
  std::vector<std::uint32_t> column_of_number_;  // by local number
  std::vector<std::uint32_t> column_;            // by input
};

}  // namespace winnow::challenge
