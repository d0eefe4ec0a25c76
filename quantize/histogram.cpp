#include "quantize/histogram.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/error.h"

namespace winnow {
namespace {

// A limit that no activation needs yet; doubled until the largest fits.
constexpr double kSmallestLimit = 0x1p-40;

// Doubles the limit: pairs of bins become one.
void widen(Histogram& histogram) {
  std::vector<std::int64_t>& bins = histogram.bins;
  for (std::size_t i = 0; i < bins.size() / 2; ++i) bins[i] = bins[2 * i] + bins[2 * i + 1];
  std::fill(bins.begin() + static_cast<std::ptrdiff_t>(bins.size() / 2), bins.end(), 0);
  histogram.limit *= 2;
}

}  // namespace

float largest_magnitude(const std::string& node, std::span<const float> values) {
  float largest = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) fail(ErrorCode::usage, "an activation of ", node, " is not finite");
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

void observe(Histogram& histogram, const std::string& node, std::span<const float> values) {
  if (histogram.bins.empty()) {
    histogram.bins.assign(kHistogramBins, 0);
    histogram.limit = kSmallestLimit;
  }
  const double largest = largest_magnitude(node, values);
  histogram.max_magnitude = std::max(histogram.max_magnitude, largest);
  while (histogram.limit < largest) widen(histogram);
  const double bins_per_unit = kHistogramBins / histogram.limit;
  for (const float value : values) {
    const auto bin = static_cast<std::size_t>(std::abs(value) * bins_per_unit);
    ++histogram.bins[std::min<std::size_t>(bin, kHistogramBins - 1)];
  }
}

}  // namespace winnow
