// IEEE 754 binary16 as a storage type. The host never computes in half.
#pragma once

#include <cstdint>

namespace winnow {

struct Half {
  std::uint16_t bits = 0;

  friend bool operator==(Half, Half) = default;
};

// Rounds to the nearest half, ties to even. Overflow gives infinity; NaN stays NaN.
Half to_half(float value);

// Exact.
float to_float(Half value);

}  // namespace winnow
