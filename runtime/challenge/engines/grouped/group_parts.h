// Which inputs a part, kPartGroups consecutive groups, reads, and in which order groups take them,
// so that rows of inputs in shared memory are read without bank conflicts. Pure host code.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/challenge/engines/grouped/input_groups.h"

namespace winnow::challenge {

inline constexpr std::uint32_t kPartGroups = 8;

// The inputs that the groups [first_group, first_group + kPartGroups) read, each once: those that
// the same groups read are beside each other, in the order of the rows in which they lie
// (`row_of_input`; empty: input i in row i). An input's place here is its local number.
std::vector<std::uint32_t> inputs_of_part(const InputGroups& groups, std::uint32_t first_group,
                                          const std::vector<std::uint32_t>& row_of_input);

// Local numbers in the order of a fragment's 16 columns. Lanes of a quarter warp read the columns
// 2 q + i and 2 q + 8 + i, q = 0 to 3, at a time; these four become different modulo 4 where the
// numbers allow it: where they come in runs of 16, always.
// `local`: ascending. Columns are filled in this order, so the last fragment may be short.
std::vector<std::uint32_t> in_order_of_columns(const std::vector<std::uint32_t>& local);

}  // namespace winnow::challenge
