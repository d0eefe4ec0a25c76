// Compiled with -mavx512f: nothing here may be shared with other files.
#include "runtime/cpu/max_rows.h"

#include <immintrin.h>

namespace winnow {
namespace {

constexpr int kLanes = 16;

__mmask16 first_lanes(std::int64_t count) {
  return count <= 0 ? 0 : count >= kLanes ? 0xffff : static_cast<__mmask16>((1u << count) - 1);
}

// The second operand of a maximum is its result where one of them is not a number.
__m512 larger(__m512 a, __m512 b) {
  const __mmask16 is_no_number = _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
  return _mm512_mask_mov_ps(_mm512_maskz_max_ps(0xffff, a, b), is_no_number, a);
}

}  // namespace

void max_pairs(const float* a, const float* b, std::int64_t count, float* to) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  for (std::int64_t x = 0; x < count; x += kLanes) {
    const std::int64_t rest = 2 * (count - x);
    const __mmask16 low = first_lanes(rest), high = first_lanes(rest - kLanes);
    const auto column = [&](__mmask16 mask, std::int64_t at) {
      return larger(_mm512_maskz_loadu_ps(mask, a + at), _mm512_maskz_loadu_ps(mask, b + at));
    };
    const __m512 first = column(low, 2 * x), second = column(high, 2 * x + kLanes);
    const __m512 pooled = larger(_mm512_permutex2var_ps(first, even, second),
                                 _mm512_permutex2var_ps(first, odd, second));
    _mm512_mask_storeu_ps(to + x, first_lanes(count - x), pooled);
  }
}

void max_row(const float* row, std::int64_t count, float* to) {
  for (std::int64_t x = 0; x < count; x += kLanes) {
    const __mmask16 mask = first_lanes(count - x);
    const __m512 largest =
        larger(_mm512_maskz_loadu_ps(mask, row + x), _mm512_maskz_loadu_ps(mask, to + x));
    _mm512_mask_storeu_ps(to + x, mask, largest);
  }
}

void max_every_second(const float* row, std::int64_t taps, std::int64_t count, float* to) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  for (std::int64_t x = 0; x < count; x += kLanes) {
    const std::int64_t rest = 2 * (count - x) - 1;
    const __mmask16 low = first_lanes(rest), high = first_lanes(rest - kLanes);
    const auto tap = [&](std::int64_t s) {
      const float* from = row + 2 * x + s;
      return _mm512_permutex2var_ps(_mm512_maskz_loadu_ps(low, from), even,
                                    _mm512_maskz_loadu_ps(high, from + kLanes));
    };
    __m512 largest = tap(0);
    for (std::int64_t s = 1; s < taps; ++s) largest = larger(largest, tap(s));
    _mm512_mask_storeu_ps(to + x, first_lanes(count - x), largest);
  }
}

}  // namespace winnow
