#include "quantize/fixed_point.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

constexpr double kPercentile = 0.9999;
constexpr int kSearchedBits = 8;  // how many bits below the maximum's range least_error looks at

void require_bits(int total_bits) {
  if (total_bits < 2 || total_bits > 16) {
    fail(ErrorCode::usage, "fixed point of ", total_bits, " bits: expected 2 to 16");
  }
}

// Eq 5: the code nearest to a value. `steps_per_unit` is 1 / sigma, a power of two, so the product
// is exact.
double nearest_code(float value, double steps_per_unit, const FixedPoint& format) {
  const double steps = std::nearbyint(static_cast<double>(value) * steps_per_unit);
  return std::clamp<double>(steps, format.lowest(), format.highest());
}

// Smallest e with 2^e >= value, exactly.
int ceil_log2(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // value = mantissa * 2^e, in [0.5, 1)
  return mantissa == 0.5 ? exponent - 1 : exponent;
}

double bin_centre(const Histogram& histogram, std::size_t bin) {
  const auto bins = static_cast<double>(histogram.bins.size());
  return histogram.limit / bins * (static_cast<double>(bin) + 0.5);
}

// Within a bin values lie anywhere, so below saturation the rounding error is that of a uniform
// distribution, sigma^2 / 12.
double histogram_error(const Histogram& histogram, const FixedPoint& format) {
  const double top = format.step() * format.highest();
  const double rounding = format.step() * format.step() / 12;
  double error = 0;
  for (std::size_t i = 0; i < histogram.bins.size(); ++i) {
    const double excess = std::max(0.0, bin_centre(histogram, i) - top);
    error += static_cast<double>(histogram.bins[i]) * (excess > 0 ? excess * excess : rounding);
  }
  return error;
}

double percentile_magnitude(const Histogram& histogram) {
  const auto total = std::accumulate(histogram.bins.begin(), histogram.bins.end(), std::int64_t{0});
  double seen = 0;
  for (std::size_t i = 0; i < histogram.bins.size(); ++i) {
    seen += static_cast<double>(histogram.bins[i]);
    if (seen >= kPercentile * static_cast<double>(total)) {
      return std::min(histogram.max_magnitude, bin_centre(histogram, i));
    }
  }
  return histogram.max_magnitude;
}

}  // namespace

double FixedPoint::step() const {
  return std::ldexp(1.0, -frac_bits);
}

FixedPoint format_for_range(double max_magnitude, int total_bits) {
  require_bits(total_bits);
  if (!std::isfinite(max_magnitude) || max_magnitude < 0) {
    fail(ErrorCode::usage, "fixed point for a range of ", max_magnitude,
         ": expected a number >= 0");
  }
  const int int_bits = max_magnitude == 0 ? 0 : ceil_log2(max_magnitude);
  return {total_bits, total_bits - int_bits - 1};
}

std::int32_t to_code(float value, const FixedPoint& format) {
  return static_cast<std::int32_t>(nearest_code(value, 1 / format.step(), format));
}

void round_to(const FixedPoint& format, std::span<float> values) {
  const double step = format.step();
  const double steps_per_unit = 1 / step;
  for (float& value : values) {
    value = static_cast<float>(nearest_code(value, steps_per_unit, format) * step);
  }
}

RangeRule range_rule_from(std::string_view name) {
  if (name == "max") return RangeRule::maximum;
  if (name == "mse") return RangeRule::least_error;
  if (name == "percentile") return RangeRule::percentile;
  const std::vector<std::string> known = {"max", "mse", "percentile"};
  fail(ErrorCode::usage, "activation range '", name, "' is not known", suggestion(name, known));
}

FixedPoint format_for_histogram(const Histogram& histogram, int total_bits, RangeRule rule) {
  const FixedPoint widest = format_for_range(histogram.max_magnitude, total_bits);
  if (rule == RangeRule::maximum || histogram.max_magnitude == 0) return widest;
  if (rule == RangeRule::percentile) {
    return format_for_range(percentile_magnitude(histogram), total_bits);
  }
  FixedPoint best = widest;
  double least = std::numeric_limits<double>::infinity();
  for (int bits = 0; bits <= kSearchedBits; ++bits) {
    const FixedPoint format{total_bits, widest.frac_bits + bits};
    const double error = histogram_error(histogram, format);
    if (error < least) {
      least = error;
      best = format;
    }
  }
  return best;
}

}  // namespace winnow
