// Optimal clustering of numbers on a line.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace winnow {

// A value and how many weights have it.
struct WeightedValue {
  double value = 0;
  double count = 0;
};

// Splits `values` into at most `clusters` runs with the least sum of count (value - mean of its
// run)^2, which is the optimal clustering of numbers: exact dynamic programming (Wang and Song,
// "Ckmeans.1d.dp: optimal k-means clustering in one dimension by dynamic programming", The R
// Journal 3/2, 2011). The best begin of the last run does not move left as its end moves right,
// so divide and conquer takes O(clusters n log n) for n values. Deterministic.
//
//   values   strictly increasing, counts positive
//   returns  begin of each run, then n: min(clusters, n) runs, none empty
//
// Throws Error{usage} if clusters < 1 or values do not increase.
std::vector<std::size_t> optimal_runs(std::span<const WeightedValue> values, int clusters);

// Sum of count (value - mean)^2 over values[begin, end).
double run_error(std::span<const WeightedValue> values, std::size_t begin, std::size_t end);

}  // namespace winnow
