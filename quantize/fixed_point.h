// Linear fixed point: paper 003, eqs 5 and 6.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "quantize/histogram.h"

namespace winnow {

// A signed fixed-point format: value = code * 2^-frac_bits, code in
// [-2^(total_bits - 1), 2^(total_bits - 1) - 1].
struct FixedPoint {
  int total_bits = 16;
  int frac_bits = 0;

  double step() const;  // sigma = 2^-frac_bits
  std::int32_t lowest() const { return -(1 << (total_bits - 1)); }
  std::int32_t highest() const { return (1 << (total_bits - 1)) - 1; }

  friend bool operator==(const FixedPoint&, const FixedPoint&) = default;
};

// Eq 6: int_bits = ceil(log2 max|x|), frac_bits = total_bits - int_bits - 1. All zeros (max 0) give
// int_bits 0. A maximum of exactly 2^k needs the code 2^(total_bits - 1), one beyond the highest:
// that one value saturates by one step, as the equation has it.
// Throws Error{usage} unless 2 <= total_bits <= 16 and max is finite and not negative.
FixedPoint format_for_range(double max_magnitude, int total_bits);

// Eq 5 with mu = 0: round(x / sigma), ties to even, saturated.
std::int32_t to_code(float value, const FixedPoint& format);

// Replaces each value by that of its code. frac_bits may be negative or exceed total_bits.
void round_to(const FixedPoint& format, std::span<float> values);

// How the range of activations is chosen from a histogram of |x| (paper 003, section 6:
// saturation of outliers).
enum class RangeRule { maximum, least_error, percentile };
RangeRule range_rule_from(std::string_view name);  // "max", "mse", "percentile"; Error{usage}

// The format whose rounding and saturation errors, summed over the histogram, are least
// (least_error); that covers the maximum (maximum) or 99.99 % of the values (percentile).
FixedPoint format_for_histogram(const Histogram& histogram, int total_bits, RangeRule rule);

}  // namespace winnow
