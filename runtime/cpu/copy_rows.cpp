// Compiled with -mavx512f: nothing here may be shared with other files.
#include "runtime/cpu/copy_rows.h"

#include <immintrin.h>

namespace winnow {
namespace {

constexpr int kLanes = 16;

// The first `count` of all lanes, none if it is negative.
unsigned first_lanes(std::int64_t count) {
  return count <= 0 ? 0u : count >= kLanes ? 0xffffu : (1u << count) - 1;
}

// Of lanes whose column, from `first` on, lies in 0 .. w - 1.
__mmask16 inside(std::int64_t first, std::int64_t w) {
  return static_cast<__mmask16>(first_lanes(w - first) & ~first_lanes(-first));
}

}  // namespace

void copy_rows(const RowCopy& copy, float* to) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  for (std::int64_t x = 0; x < copy.width; x += kLanes) {
    const std::int64_t col = copy.first_col + x * copy.step;
    const __mmask16 written = inside(x, copy.width);
    const __mmask16 low = inside(col, copy.w), high = inside(col + kLanes, copy.w);
    for (std::int64_t row = 0; row < copy.rows; ++row) {
      const std::int64_t y = copy.first_row + row * copy.row_step;
      __m512 floats = _mm512_setzero_ps();
      if (y >= 0 && y < copy.h) {
        const float* from = copy.plane + y * copy.w + col;
        floats = _mm512_maskz_loadu_ps(low, from);
        if (copy.step == 2) {
          const __m512 next = _mm512_maskz_loadu_ps(high, from + kLanes);
          floats = _mm512_permutex2var_ps(floats, even, next);
        }
      }
      _mm512_mask_storeu_ps(to + row * copy.width + x, written, floats);
    }
  }
}

}  // namespace winnow
