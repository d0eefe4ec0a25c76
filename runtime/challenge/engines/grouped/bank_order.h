// In which order a group's outputs lie, so that the groups of the next layer read them from shared
// memory without bank conflicts. Pure host code.
#pragma once

#include "runtime/challenge/engines/grouped/input_groups.h"

namespace winnow::challenge {

// Rows of activations that lie in different banks: those whose numbers differ modulo so many.
inline constexpr std::uint32_t kRowBanks = 8;

// Changes the order of outputs within each group, row 16 g + place for the place in group g, until
// each group of `next`, whose inputs these outputs are, reads about as many rows of each bank.
void order_for_banks(InputGroups& groups, const InputGroups& next);

}  // namespace winnow::challenge
