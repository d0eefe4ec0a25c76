#include "prune/evolution/sensitivity.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "prune/evolution/migration.h"
#include "runtime/base/random.h"

namespace winnow {
namespace {

using Values = std::vector<double>;

LayerBudget equal_layers(std::size_t count, std::int64_t units = 1000) {
  std::vector<PrunableLayer> layers;
  for (std::size_t i = 0; i < count; ++i) {
    layers.push_back({"layer" + std::to_string(i), units, 1, units, 1.0});
  }
  return LayerBudget(EvolutionConfig{}, layers);
}

TEST_CASE("a loss of accuracy is attributed to the layers that were pruned, in a worked example") {
  // Layer 0 loses 1 - exp(-0.3) of its density: r = 0.3. The loss beyond the trend is
  // 0.02 - (-0.03) = 0.05; S_0 = 0.5 * 1/2 * 0.05 * 0.3 / (0.01 + 0.09).
  Values sensitivity = {0, 0};
  double trend = 0.02;
  const Values before = {0, 0.5};
  const Values after = {1 - std::exp(-0.3), 0.5};
  update_sensitivity(sensitivity, trend, {before, after, -0.03}, 0.5);

  CHECK(sensitivity[0] == doctest::Approx(0.0375));
  CHECK(sensitivity[1] == 0.0);
  CHECK(trend == doctest::Approx(-0.005));
}

TEST_CASE("an accuracy that is no number teaches nothing") {
  Values sensitivity = {0.1};
  double trend = 0.01;
  update_sensitivity(sensitivity, trend, {Values{0}, Values{0.5}, std::nan("")}, 0.5);
  CHECK(sensitivity == Values{0.1});
  CHECK(trend == 0.01);
}

TEST_CASE("sensitivities are learned from iterations that prune layers together") {
  Random random(2);
  const Values truth = {0.02, 0.2, 0.05};
  Values sensitivity(3, 0.0);
  double trend = 0.0;
  for (int i = 0; i < 600; ++i) {
    Values after(3, 0.0);
    double change = 0.0;
    for (std::size_t l = 0; l < 3; ++l) {
      const double fall = random.chance(0.5) ? random.uniform(0.0, 0.4) : 0.0;
      after[l] = 1 - std::exp(-fall);
      change -= truth[l] * fall;
    }
    update_sensitivity(sensitivity, trend, {Values(3, 0.0), after, change}, 0.1);
  }
  CHECK(sensitivity[1] > sensitivity[2] + 0.05);
  CHECK(sensitivity[2] > sensitivity[0] + 0.01);
}

TEST_CASE("sensitive layers are less willing and noise alone makes little difference") {
  const LayerBudget budget = equal_layers(3);
  const Values dense(3, 0.0);
  const Values willing = willingness(Values{0.0, 0.1, 0.2}, dense, 0.5, budget);
  const double z = 0.1 / std::sqrt(0.02 / 3);  // deviations of the outer two
  CHECK(willing[0] == doctest::Approx(std::exp(z)));
  CHECK(willing[1] == doctest::Approx(1.0));
  CHECK(willing[2] == doctest::Approx(std::exp(-z)));

  const Values noise = willingness(Values{0.0, 0.001, 0.002}, dense, 0.5, budget);
  CHECK(noise[0] == doctest::Approx(std::exp(0.05)));
}

TEST_CASE("a layer that keeps little gives little, by the size exponent") {
  const std::vector<PrunableLayer> layers = {
      {"small", 100, 1, 100, 1.0}, {"large", 10000, 1, 10000, 1.0}, {"out", 10, 1, 10, 1.0}};
  EvolutionConfig config;
  config.exclude = {"out"};
  const LayerBudget budget(config, layers);
  const Values none(3, 0.0);
  CHECK(willingness(none, none, 0.5, budget) == Values{0.1, 1.0, 0.0});
  CHECK(willingness(none, none, 0.0, budget) == Values{1.0, 1.0, 0.0});
}

TEST_CASE("the migration rate counts exchanges, not what a change of sparsity forces") {
  CHECK(migration_rate(std::vector<Migration>{{0, 50, 50, 50}}) == 0.0);
  CHECK(migration_rate(std::vector<Migration>{{50, 0, 100, 100}}) == 0.0);
  CHECK(migration_rate(std::vector<Migration>{{2, 12, 60, 60}, {3, 3, 40, 40}}) == 0.05);
  CHECK(migration_rate({}) == 0.0);
}

TEST_CASE("alpha falls when many units migrate and rises when none do, within its limits") {
  EvolutionConfig config;
  config.alpha_step = 0.02;
  config.migration_goal = 0.02;
  config.alpha_min = 0.05;
  config.alpha_max = 0.15;
  CHECK(next_alpha(0.1, 0.02, config) == doctest::Approx(0.1));
  CHECK(next_alpha(0.1, 0.0, config) == doctest::Approx(0.12));
  CHECK(next_alpha(0.1, 0.01, config) == doctest::Approx(0.11));
  CHECK(next_alpha(0.1, 0.08, config) == doctest::Approx(0.085));
  CHECK(next_alpha(0.145, 0.0, config) == 0.15);
  CHECK(next_alpha(0.055, 1.0, config) == 0.05);
  config.migration_goal = 0.0;
  CHECK(next_alpha(0.1, 0.0, config) == doctest::Approx(0.1));
}

}  // namespace
}  // namespace winnow
