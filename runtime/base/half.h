// IEEE 754 binary16 as a storage type. The host never computes in half.
#pragma once

#include <cstdint>

namespace winnow {

struct Half {
  std::uint16_t bits = 0;

  friend bool operator==(Half, Half) = default;
};

inline constexpr float kLargestHalf = 65504;

// Rounds to the nearest half, ties to even. Overflow gives infinity; NaN stays NaN.
Half to_half(float value);

// Exact.
float to_float(Half value);

// Two halves whose sum has a value to 22 bits: the nearest one, and the nearest to what that
// leaves.
struct HalfTerms {
  Half high, low;
};
HalfTerms half_terms(float value);

}  // namespace winnow
