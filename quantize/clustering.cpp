#include "quantize/clustering.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "quantize/optimal_runs.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

constexpr float kLargestHalf = 65504.0f;
constexpr int kMostRefinements = 100;  // each lowers the error; a few dozen reach a fixed point

Half nearest_half(double value) {
  return to_half(std::clamp(static_cast<float>(value), -kLargestHalf, kLargestHalf));
}

void require_sound(std::span<const float> weights, std::span<const std::uint8_t> kept,
                   const ClusteringOptions& options) {
  if (options.centroids < 2 || options.centroids > 256) {
    fail(ErrorCode::usage, "clustering: ", options.centroids, " centroids, expected 2 to 256");
  }
  if (!kept.empty() && kept.size() != weights.size()) {
    fail(ErrorCode::usage, "clustering: mask of ", kept.size(), " for ", weights.size(),
         " weights");
  }
  if (std::any_of(weights.begin(), weights.end(), [](float w) { return !std::isfinite(w); })) {
    fail(ErrorCode::usage, "clustering: a weight is not finite");
  }
}

// Centroids in rising order, as floats that are fp16 numbers.
using Centroids = std::vector<float>;

Centroids rounded_centroids(std::span<const double> means) {
  Centroids centroids;
  for (const double mean : means) {
    // Added 0 turns -0 into 0.
    centroids.push_back(to_float(nearest_half(mean)) + 0.0f);
  }
  std::sort(centroids.begin(), centroids.end());
  centroids.erase(std::unique(centroids.begin(), centroids.end()), centroids.end());
  return centroids;
}

// The clusters' members for sorted weights: begin of each run, and the end.
std::vector<std::size_t> members(std::span<const float> sorted, const Centroids& centroids) {
  std::vector<std::size_t> begin = {0};
  for (std::size_t i = 1; i < centroids.size(); ++i) {
    // fp16 numbers: their sum is exact in double. The midpoint belongs to the lower one.
    const double middle = (static_cast<double>(centroids[i - 1]) + centroids[i]) / 2;
    const auto first = std::upper_bound(sorted.begin(), sorted.end(), middle,
                                        [](double m, float w) { return m < w; });
    begin.push_back(static_cast<std::size_t>(first - sorted.begin()));
  }
  begin.push_back(sorted.size());
  return begin;
}

struct RunMeans {
  std::vector<double> means;  // of runs with members
  double error = 0;           // sum of squared distances to the given centroids
};

RunMeans means_of(std::span<const float> sorted, const Centroids& centroids) {
  const std::vector<std::size_t> begin = members(sorted, centroids);
  RunMeans result;
  for (std::size_t i = 0; i < centroids.size(); ++i) {
    if (begin[i] == begin[i + 1]) continue;
    double sum = 0;
    for (std::size_t j = begin[i]; j < begin[i + 1]; ++j) {
      const double distance = static_cast<double>(sorted[j]) - centroids[i];
      sum += sorted[j];
      result.error += distance * distance;
    }
    result.means.push_back(sum / static_cast<double>(begin[i + 1] - begin[i]));
  }
  return result;
}

// Distinct fp16 values of the sorted weights with their numbers: at most 63,487.
std::vector<WeightedValue> histogram_of(std::span<const float> sorted) {
  std::vector<WeightedValue> values;
  for (const float weight : sorted) {
    const double value = to_float(nearest_half(weight)) + 0.0f;
    if (values.empty() || values.back().value != value) values.push_back({value, 0});
    ++values.back().count;
  }
  return values;
}

Centroids optimal_centroids(std::span<const float> sorted, int clusters) {
  const std::vector<WeightedValue> values = histogram_of(sorted);
  const std::vector<std::size_t> begin = optimal_runs(values, clusters);
  std::vector<double> means;
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
    double sum = 0;
    double count = 0;
    for (std::size_t j = begin[i]; j < begin[i + 1]; ++j) {
      sum += values[j].value * values[j].count;
      count += values[j].count;
    }
    means.push_back(sum / count);
  }
  return rounded_centroids(means);
}

Centroids refined(std::span<const float> sorted, Centroids centroids) {
  RunMeans now = means_of(sorted, centroids);
  for (int i = 0; i < kMostRefinements; ++i) {
    Centroids next = rounded_centroids(now.means);
    RunMeans then = means_of(sorted, next);
    if (then.error >= now.error) break;
    centroids = std::move(next);
    now = std::move(then);
  }
  return centroids;
}

std::uint8_t nearest_entry(const Centroids& centroids, float weight) {
  const auto above = std::lower_bound(centroids.begin(), centroids.end(), weight);
  auto index = static_cast<std::size_t>(above - centroids.begin());
  if (index == centroids.size()) --index;
  if (index > 0) {
    const double below = static_cast<double>(weight) - centroids[index - 1];
    const double over = static_cast<double>(centroids[index]) - weight;
    if (below <= over) --index;
  }
  return static_cast<std::uint8_t>(index + 1);
}

}  // namespace

Clustering cluster_weights(std::span<const float> weights, std::span<const std::uint8_t> kept,
                           const ClusteringOptions& options) {
  require_sound(weights, kept, options);
  std::vector<float> sorted;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (kept.empty() || kept[i] != 0) sorted.push_back(weights[i]);
  }
  std::sort(sorted.begin(), sorted.end());

  Clustering result{std::vector<Half>(static_cast<std::size_t>(options.centroids)),
                    std::vector<std::uint8_t>(weights.size(), 0)};
  if (sorted.empty()) return result;
  Centroids centroids = optimal_centroids(sorted, options.centroids - 1);
  if (options.refine) centroids = refined(sorted, std::move(centroids));
  for (std::size_t i = 0; i < centroids.size(); ++i) result.codebook[i + 1] = to_half(centroids[i]);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (kept.empty() || kept[i] != 0) result.codes[i] = nearest_entry(centroids, weights[i]);
  }
  return result;
}

}  // namespace winnow
