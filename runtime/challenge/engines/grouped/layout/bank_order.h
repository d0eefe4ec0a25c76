// In which order the outputs of a group lie, so that the groups of the next layer read them from
// shared memory without bank conflicts. Pure host code.
#pragma once

#include "runtime/challenge/engines/grouped/layout/input_groups.h"

namespace winnow::challenge {

// Rows of activations meet different banks of shared memory if their numbers differ modulo so many.
inline constexpr std::uint32_t kBankGroups = 8;

// Changes the order of the outputs within each group. The output at place p of group g lies in row
// 16 g + p. Outputs are exchanged until each group of `next`, the layer that reads these outputs,
// reads about as many rows of each bank group.
void order_for_banks(InputGroups& groups, const InputGroups& next);

}  // namespace winnow::challenge
