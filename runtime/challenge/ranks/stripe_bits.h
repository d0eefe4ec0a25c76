// Categories of a rank's images as bits, a word for each of its stripes.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/challenge/engine.h"

namespace winnow::challenge {

// The stripes of the rank that has most.
std::uint32_t most_stripes(std::uint32_t images, std::uint32_t ranks);

// Bit i % 64 of word i / 64 is image i of a rank's own. `words` are enough for them.
std::vector<std::uint64_t> stripe_bits(const Categories& own, std::uint32_t words);

// The categories of all, ascending: of each rank the bits, equally many words.
Categories merged_categories(const std::vector<std::vector<std::uint64_t>>& bits_of_ranks);

}  // namespace winnow::challenge
