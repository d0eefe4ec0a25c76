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
  const std::vector<float> weights(8, 0.0f);
  const std::vector<std::uint8_t> kept(8, 0);
  CHECK(cluster_weights(weights, kept).codes == std::vector<std::uint8_t>(8, 0));
  const Clustering scaled = cluster_channels(weights, kept, 2);
  CHECK(scaled.codes == std::vector<std::uint8_t>(8, 0));
  CHECK(scaled.channel_scale == std::vector<Half>(2, to_half(0)));
}

// What the weights become: codebook entry times scale of the channel.
std::vector<float> decoded(const Clustering& clustering) {
  std::vector<float> weights;
  const std::size_t channels = std::max<std::size_t>(1, clustering.channel_scale.size());
  const std::size_t inner = clustering.codes.size() / channels;
  for (std::size_t i = 0; i < clustering.codes.size(); ++i) {
    const float entry = to_float(clustering.codebook[clustering.codes[i]]);
    const bool is_scaled = !clustering.channel_scale.empty();
    weights.push_back(is_scaled ? entry * to_float(clustering.channel_scale[i / inner]) : entry);
  }
  return weights;
}

double decoded_error(std::span<const float> weights, const Clustering& clustering) {
  const std::vector<float> after = decoded(clustering);
  double error = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) error += std::pow(weights[i] - after[i], 2);
  return error;
}

// [channels, inner] of normal numbers, each channel with a size of its own over `spread` octaves.
std::vector<float> channels_of_sizes(Random& random, std::size_t channels, std::size_t inner,
                                     double spread) {
  std::vector<float> weights;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const double size = 0.05 * std::exp2(random.uniform(-spread / 2, spread / 2));
    for (std::size_t i = 0; i < inner; ++i) {
      weights.push_back(static_cast<float>(random.normal(0, size)));
    }
  }
  return weights;
}

TEST_CASE("channels that differ by a factor share their centroids exactly") {
  // Root mean squares 1, 4 and 0.25, so that weight / scale is 1 or -1 everywhere.
  const std::vector<float> weights = {1, -1, 1, 1, -4, 4, 4, 0, 0.25f, 0, -0.25f, -0.25f};
  const std::vector<std::uint8_t> kept = {1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1};
  const Clustering result = cluster_channels(weights, kept, 3, {3});
  CHECK(decoded(result) == weights);
  CHECK(result.error == 0);
  CHECK(result.channel_scale == std::vector<Half>{to_half(0.25f), to_half(1), to_half(0.0625f)});
  CHECK(result.codebook == std::vector<Half>{to_half(0), to_half(-4), to_half(4)});
  CHECK(result.codes == std::vector<std::uint8_t>{2, 1, 2, 2, 1, 2, 2, 0, 2, 0, 1, 1});
  CHECK(cluster_weights(weights, kept, {3}).error > 5);
}

TEST_CASE("the error told is that of the weights, and channel scales lower it") {
  Random random(11);
  for (const double spread : {2.0, 4.0, 8.0}) {
    CAPTURE(spread);
    const std::vector<float> weights = channels_of_sizes(random, 40, 150, spread);
    std::vector<std::uint8_t> kept(weights.size());
    std::vector<float> masked = weights;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      kept[i] = random.chance(0.4);
      if (kept[i] == 0) masked[i] = 0;
    }
    const Clustering plain = cluster_weights(masked, kept);
    const Clustering scaled = cluster_channels(masked, kept, 40);
    CHECK(decoded_error(masked, plain) == doctest::Approx(plain.error));
    CHECK(decoded_error(masked, scaled) == doctest::Approx(scaled.error));
    CHECK(scaled.error < plain.error * (spread < 3 ? 0.9 : 0.6));
    for (std::size_t i = 0; i < kept.size(); ++i) {
      REQUIRE((scaled.codes[i] != 0) == (kept[i] != 0));
    }
  }
}

TEST_CASE("neither another entry nor another scale lowers the error of scaled channels") {
  Random random(12);
  constexpr std::size_t kChannels = 12, kInner = 300;
  const std::vector<float> weights = channels_of_sizes(random, kChannels, kInner, 4);
  const Clustering result = cluster_channels(weights, {}, kChannels);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double scale = to_float(result.channel_scale[i / kInner]);
    const double taken = std::abs(weights[i] - scale * to_float(result.codebook[result.codes[i]]));
    for (std::size_t entry = 1; entry < result.codebook.size(); ++entry) {
      REQUIRE(taken <= std::abs(weights[i] - scale * to_float(result.codebook[entry])));
    }
  }
  const double least = decoded_error(weights, result);
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    for (const float factor : {0.96f, 1.04f}) {
      Clustering other = result;
      Half& scale = other.channel_scale[channel];
      scale = to_half(factor * to_float(scale));
      CHECK(decoded_error(weights, other) > least * 0.999);  // the search stops at a thousandth
    }
  }
}

TEST_CASE("channels of zeros and of single weights are exact") {
  const std::vector<float> weights = {0, 0, 0, 0, 0, 0.3f, 0, 0, 0, 0, 0, -70};
  const Clustering result = cluster_channels(weights, {}, 4, {4});
  const std::vector<float> after = decoded(result);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    CHECK(after[i] == doctest::Approx(weights[i]).epsilon(0.001));
  }
  CHECK(to_float(result.channel_scale[0]) == 0);
  CHECK(to_float(result.channel_scale[2]) == 0);
}

TEST_CASE("channel scales are worth it from 6 dB per bit and weight on") {
  CHECK(worthwhile_gain(16, 256) == doctest::Approx(6.0206));  // one bit more per weight
  CHECK(worthwhile_gain(512, 80000) == doctest::Approx(0.6165));
}

TEST_CASE("what cannot be clustered is refused") {
  const std::vector<float> weights = {1, 2}, broken = {1, NAN};
  const std::vector<std::uint8_t> kept = {1};
  const std::vector<WeightedValue> unordered = {{1, 1}, {1, 1}};
  CHECK(error_of([&] { cluster_weights(weights, kept); }) == ErrorCode::usage);
  CHECK(error_of([&] { cluster_weights(broken, {}); }) == ErrorCode::usage);
  CHECK(error_of([&] { cluster_weights(weights, {}, {1}); }) == ErrorCode::usage);
  CHECK(error_of([&] { cluster_weights(weights, {}, {257}); }) == ErrorCode::usage);
  CHECK(error_of([&] { cluster_channels(weights, {}, 0); }) == ErrorCode::usage);
  CHECK(error_of([&] { cluster_channels(weights, {}, 3); }) == ErrorCode::usage);
  CHECK(error_of([&] { cluster_channels(broken, {}, 1); }) == ErrorCode::usage);
  CHECK(error_of([&] { optimal_runs(unordered, 2); }) == ErrorCode::usage);
  CHECK(error_of([&] { optimal_runs({}, 0); }) == ErrorCode::usage);
}

}  // namespace
}  // namespace winnow
