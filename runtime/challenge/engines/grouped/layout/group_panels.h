// Which inputs a panel reads, and in which order a group takes its inputs, so that rows of inputs
// in shared memory are read without bank conflicts. A panel is kPanelGroups consecutive groups,
// which a thread block computes at a time. Pure host code.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/challenge/engines/grouped/layout/input_groups.h"

namespace winnow::challenge {

inline constexpr std::uint32_t kPanelGroups = 8;

// The inputs that the groups [first_group, first_group + kPanelGroups) read, each once. Inputs that
// the same groups read come one after the other, in the order of the rows in which they lie.
// `row_of_input` names these rows; empty: input i lies in row i. An input's place in the result is
// its local number.
std::vector<std::uint32_t> inputs_of_panel(const InputGroups& groups, std::uint32_t first_group,
                                           const std::vector<std::uint32_t>& row_of_input);

// A group's inputs in the order of its columns, 16 to a fragment; the last fragment may be short.
// `local`: their local numbers, ascending.
//
// A quarter of a warp reads at a time, for one i of 0, 1, 8 and 9, the columns 2 q + i of
// q = 0 to 3. The order makes these four local numbers different modulo 4 where it can: always if
// the numbers come in sequences of 16.
std::vector<std::uint32_t> in_order_of_columns(const std::vector<std::uint32_t>& local);

}  // namespace winnow::challenge
