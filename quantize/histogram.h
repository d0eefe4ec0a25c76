// How large the values are that a node gives.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace winnow {

// |x| over all values that one node gave.
struct Histogram {
  double max_magnitude = 0;
  double limit = 0;                // a power of two >= the maximum
  std::vector<std::int64_t> bins;  // [kHistogramBins] bin i covers limit / bins * [i, i + 1)
};
inline constexpr int kHistogramBins = 2048;

// Counts `values` of `node` into the histogram, which begins empty.
// Throws Error{usage} with the node's name if one is not finite.
void observe(Histogram& histogram, const std::string& node, std::span<const float> values);

// The largest |value|. Throws as observe.
float largest_magnitude(const std::string& node, std::span<const float> values);

}  // namespace winnow
