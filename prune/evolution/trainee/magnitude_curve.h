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

// What a layer loses that keeps so many blocks, 1 at least: -ln of their share of the sum of all
// squares, between two ranks of the curve taken to rise evenly. Shares do not depend on the scale
// of a layer's weights, which a batch norm behind it takes out, and what one layer leaves of a
// signal the next one reads, so that they multiply: no layer is emptied because its weights, or its
// blocks, are few or small.
double loss_of(const MagnitudeCurve& curve, std::int64_t kept);

// The ranks that a curve of so many blocks has: all of the first, then steps that grow with the
// rank, so that any density is met to less than one part in a hundred.
std::vector<std::int64_t> curve_ranks(std::int64_t blocks);

}  // namespace winnow
