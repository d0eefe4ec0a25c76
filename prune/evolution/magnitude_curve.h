// How the magnitudes of a layer's weights are distributed, in few numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace winnow {

// The magnitude of a layer's blocks, largest first, at some ranks.
struct MagnitudeCurve {
  std::vector<std::int64_t> ranks =
      {};  // ascending; 0 is the largest block, the last one the smallest
  std::vector<double> magnitudes = {};  // at these ranks: mean |w| of the block
  std::vector<double> squares = {};     // sum of the squared magnitudes of ranks 0 up to this one
};

// The ranks that a curve of so many blocks has: all of the first, then steps that grow with the
// rank, so that any density is met to less than one part in a hundred.
std::vector<std::int64_t> curve_ranks(std::int64_t blocks);

}  // namespace winnow
