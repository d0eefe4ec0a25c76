// The median of measurements.
#pragma once

#include <vector>

namespace winnow {

// The middle one of the values, or the mean of the two in the middle; 0 for no values.
double median(std::vector<double> values);

}  // namespace winnow
