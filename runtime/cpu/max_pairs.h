// Maxima of 2 x 2 neighbours.
#pragma once

#include <cstdint>

namespace winnow {

// to[x] is the largest of a[2x], a[2x + 1], b[2x] and b[2x + 1], x < count; what is not a number
// wins. Needs AVX-512.
void max_pairs(const float* a, const float* b, std::int64_t count, float* to);

}  // namespace winnow
