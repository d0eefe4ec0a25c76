// Maxima of neighbours in rows of a plane; what is not a number wins. Needs AVX-512.
#pragma once

#include <cstdint>

namespace winnow {

// to[x] is the largest of a[2x], a[2x + 1], b[2x] and b[2x + 1], x < count.
void max_pairs(const float* a, const float* b, std::int64_t count, float* to);

// to[x] is the larger of to[x] and row[x], x < count.
void max_row(const float* row, std::int64_t count, float* to);

// to[x] is the largest of row[2x] .. row[2x + taps - 1], x < count.
void max_every_second(const float* row, std::int64_t taps, std::int64_t count, float* to);

}  // namespace winnow
