// Categories against those that are known to be right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/challenge/engine.h"

namespace winnow::challenge {

struct CategoryComparison {
  std::size_t found = 0;     // images
  std::size_t expected = 0;  // images
  Categories missing;        // expected, but not found
  Categories surplus;        // found, but not expected

  bool is_equal() const { return missing.empty() && surplus.empty(); }
};

// Both ascending.
CategoryComparison compare_categories(const Categories& found, const Categories& truth);

// "equal, 1812 images", or "1810 images found, 1811 expected; 2 missing: 17, 23; 1 surplus: 40".
// Images are counted from 1, as in files, and the first `listed` of each kind named.
std::string describe(const CategoryComparison& comparison, std::size_t listed = 8);

// SHA-256 of the list as a file of categories has it: a number a line, counted from 1.
std::string categories_sha256(const Categories& categories);

// Those in [first, last), for a run over these images only.
Categories categories_within(const Categories& categories, std::uint32_t first, std::uint32_t last);

}  // namespace winnow::challenge
