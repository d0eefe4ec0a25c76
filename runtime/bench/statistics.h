// Order statistics of timings.
#pragma once

#include <cstddef>
#include <vector>

namespace winnow {

struct Statistics {
  std::size_t count = 0;
  double minimum = 0;
  double p10 = 0;
  double median = 0;
  double p90 = 0;
  double maximum = 0;
  double mean = 0;
};

// Percentiles by linear interpolation between the two nearest ranks. All zero for no samples.
Statistics statistics_of(std::vector<double> samples);

}  // namespace winnow
