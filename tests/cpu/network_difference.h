// How far a network's outputs are from the reference's.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace winnow {

// The largest difference, in units of the largest expected magnitude.
inline double difference(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  double largest = 1e-6, error = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    error = std::max(error, std::abs(static_cast<double>(found[i]) - expected[i]));
    if (std::isnan(found[i])) return 1e9;
  }
  return error / largest;
}

// Sums of at most 864 terms in float, through a handful of layers.
inline constexpr double kTolerance = 2e-5;

}  // namespace winnow
