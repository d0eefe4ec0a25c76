// Order statistics of timings.
#pragma once

#include <vector>

namespace winnow {

struct Statistics {
  double minimum = 0;
  double mean = 0;
  double median = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
  double maximum = 0;
};

// Percentiles by linear interpolation between the two nearest ranks. All zero for no samples.
Statistics statistics_of(std::vector<double> samples);

}  // namespace winnow
