// Copying rows of a plane with a step, zeros where they leave it.
#pragma once

#include <cstdint>

namespace winnow {

// Row i of `rows` is the plane's row first_row + i * row_step, its element j that at column
// first_col + j * step. `step` is 1 or 2.
struct RowCopy {
  const float* plane = nullptr;
  std::int64_t h = 0, w = 0;
  std::int64_t first_row = 0, row_step = 1;
  std::int64_t first_col = 0, step = 1;
  std::int64_t rows = 0, width = 0;
};

// Writes rows * width floats side by side. Needs AVX-512.
void copy_rows(const RowCopy& copy, float* to);

}  // namespace winnow
