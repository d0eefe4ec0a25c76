#include "quantize/clustering.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "quantize/optimal_runs.h"
#include "runtime/base/random.h"
#include "tests/throws.h"

namespace winnow {
namespace {

double total_error(std::span<const WeightedValue> values, const std::vector<std::size_t>& begin) {
  double error = 0;
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
    error += run_error(values, begin[i], begin[i + 1]);
  }
  return error;
}

// The least error of any split of values[first, n) into `runs` runs, by trying all.
double least_error(std::span<const WeightedValue> values, std::size_t first, int runs) {
  if (runs == 1) return run_error(values, first, values.size());
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t end = first + 1; end < values.size(); ++end) {
    least = std::min(least, run_error(values, first, end) + least_error(values, end, runs - 1));
  }
  return least;
}

std::vector<WeightedValue> random_values(Random& random, std::size_t n) {
  std::vector<WeightedValue> values(n);
  double x = random.uniform(-5, 5);
  for (WeightedValue& value : values) {
    value = {x, static_cast<double>(random.between(1, 9))};
    x += random.chance(0.3) ? random.uniform(0.5, 3) : random.uniform(0.001, 0.1);
  }
  return values;
}

TEST_CASE("three heaps of numbers are three runs") {
  const std::vector<WeightedValue> values = {{-9, 1}, {-8, 1}, {0, 5}, {0.5, 1}, {7, 1}, {9, 1}};
  CHECK(optimal_runs(values, 3) == std::vector<std::size_t>{0, 2, 4, 6});
  CHECK(run_error(values, 0, 2) == doctest::Approx(0.5));
  CHECK(optimal_runs(values, 1) == std::vector<std::size_t>{0, 6});
  CHECK(optimal_runs(values, 9) == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6});
  CHECK(optimal_runs({}, 4) == std::vector<std::size_t>{0});
}

TEST_CASE("no split into runs beats optimal_runs") {
  Random random(1);
  for (int round = 0; round < 150; ++round) {
    const auto n = static_cast<std::size_t>(random.between(1, 12));
    const int clusters = static_cast<int>(random.between(1, 5));
    const std::vector<WeightedValue> values = random_values(random, n);
    const auto begin = optimal_runs(values, clusters);
    CAPTURE(n);
    CAPTURE(clusters);
    REQUIRE(begin.size() == std::min(n, static_cast<std::size_t>(clusters)) + 1);
    CHECK(std::is_sorted(begin.begin(), begin.end()));
    CHECK(total_error(values, begin) ==
          doctest::Approx(least_error(values, 0, static_cast<int>(begin.size()) - 1)));
  }
}

TEST_CASE("weights on as many values as there are entries come back as they are") {
  const std::vector<float> weights = {0.5f, -0.25f, 0, 0.5f, 1, -0.25f};
  const std::vector<std::uint8_t> kept = {1, 1, 0, 1, 1, 1};
  const Clustering result = cluster_weights(weights, kept, {4});
  const std::vector<Half> codebook = {to_half(0), to_half(-0.25f), to_half(0.5f), to_half(1)};
  CHECK(result.codebook == codebook);
  CHECK(result.codes == std::vector<std::uint8_t>{2, 1, 0, 2, 3, 1});
}

TEST_CASE("a centroid is the mean of its members") {
  const std::vector<float> weights = {-1.5f, -1, 2, 4, 3};
  const Clustering result = cluster_weights(weights, {}, {3});
  CHECK(to_float(result.codebook[1]) == -1.25f);
  CHECK(to_float(result.codebook[2]) == 3);
  CHECK(result.codes == std::vector<std::uint8_t>{1, 1, 2, 2, 2});
}

TEST_CASE("masked weights have code 0 and kept ones never, also if they are 0") {
  Random random(2);
  std::vector<float> weights(500);
  std::vector<std::uint8_t> kept(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    kept[i] = random.chance(0.3);
    weights[i] = kept[i] && !random.chance(0.1) ? static_cast<float>(random.normal()) : 0.0f;
  }
  const Clustering result = cluster_weights(weights, kept);
  CHECK(result.codebook.size() == 16);
  CHECK(to_float(result.codebook[0]) == 0);
  for (std::size_t i = 0; i < weights.size(); ++i) CHECK((result.codes[i] != 0) == (kept[i] != 0));
}

double squared_error(std::span<const float> weights, const Clustering& clustering) {
  double error = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    error += std::pow(weights[i] - to_float(clustering.codebook[clustering.codes[i]]), 2);
  }
  return error;
}

TEST_CASE("every weight takes the entry that is nearest") {
  Random random(4);
  std::vector<float> weights(2000);
  for (float& w : weights) w = static_cast<float>(random.normal(0, 0.05));
  for (const int centroids : {2, 3, 16, 256}) {
    const Clustering result = cluster_weights(weights, {}, {centroids});
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const float w = weights[i];
      const double taken = std::abs(w - to_float(result.codebook[result.codes[i]]));
      for (std::size_t entry = 1; entry < result.codebook.size(); ++entry) {
        REQUIRE(taken <= std::abs(w - to_float(result.codebook[entry])));
      }
    }
  }
}

TEST_CASE("refinement and more centroids lower the error") {
  Random random(5);
  std::vector<float> weights(3000);
  for (float& w : weights) w = static_cast<float>(random.normal(0, 0.03));
  const double rough = squared_error(weights, cluster_weights(weights, {}, {16, false}));
  const double fine = squared_error(weights, cluster_weights(weights, {}, {16, true}));
  CHECK(fine <= rough);
  CHECK(squared_error(weights, cluster_weights(weights, {}, {256})) < fine / 50);
  // Sixteen levels are the best there are: those of a uniform grid are far behind.
  double uniform = 0;
  for (const float w : weights) uniform += std::pow(w - std::round(w / 0.014) * 0.014, 2);
  CHECK(fine < uniform);
}

TEST_CASE("weights that fp16 cannot hold become 0 or its largest number") {
  const std::vector<float> weights = {1e-12f, -1e-12f, 1e6f};
  const Clustering result = cluster_weights(weights, {});
  CHECK(to_float(result.codebook[result.codes[0]]) == 0);
  CHECK(to_float(result.codebook[result.codes[2]]) == 65504.0f);
  CHECK(result.codes[0] != 0);
}

TEST_CASE("a layer without kept weights has codes 0 only") {
  const std::vector<float> weights(7, 0.0f);
  const std::vector<std::uint8_t> kept(7, 0);
  CHECK(cluster_weights(weights, kept).codes == std::vector<std::uint8_t>(7, 0));
}

TEST_CASE("what cannot be clustered is refused") {
  const std::vector<float> weights = {1, 2}, broken = {1, NAN};
  const std::vector<std::uint8_t> kept = {1};
  const std::vector<WeightedValue> unordered = {{1, 1}, {1, 1}};
  CHECK(error_of([&] { cluster_weights(weights, kept); }) == ErrorCode::usage);
  CHECK(error_of([&] { cluster_weights(broken, {}); }) == ErrorCode::usage);
  CHECK(error_of([&] { cluster_weights(weights, {}, {1}); }) == ErrorCode::usage);
  CHECK(error_of([&] { cluster_weights(weights, {}, {257}); }) == ErrorCode::usage);
  CHECK(error_of([&] { optimal_runs(unordered, 2); }) == ErrorCode::usage);
  CHECK(error_of([&] { optimal_runs({}, 0); }) == ErrorCode::usage);
}

}  // namespace
}  // namespace winnow
