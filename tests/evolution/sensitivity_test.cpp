#include "prune/evolution/population/sensitivity.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "prune/evolution/migration.h"
#include "runtime/base/random.h"

namespace winnow {
namespace {

using Values = std::vector<double>;

LayerBudget equal_layers(std::size_t count, std::int64_t blocks = 1000) {
  std::vector<PrunableLayer> layers;
  for (std::size_t i = 0; i < count; ++i) {
    layers.push_back({"layer" + std::to_string(i), blocks, 1, blocks, 1.0});
  }
  return LayerBudget(EvolutionConfig{}, layers);
}

TEST_CASE("a loss of accuracy is attributed to the layers that were pruned, in a worked example") {
  // Layer 0 loses 1 - exp(-0.3) of its density: r = 0.3. The loss beyond the trend is
  // 0.02 - (-0.03) = 0.05; S_0 = 0.5 * 0.05 * 0.3 / (0.000025 / 0.0025 + 0.09).
  SensitivityEstimate estimate = {{0, 0}, 0.02, 0.000025};
  const Values before = {0, 0.5};
  const Values after = {1 - std::exp(-0.3), 0.5};
  update_sensitivity(estimate, {before, after, -0.03}, 0.5);

  CHECK(estimate.sensitivity[0] == doctest::Approx(0.075));
  CHECK(estimate.sensitivity[1] == 0.0);
  CHECK(estimate.trend == doctest::Approx(-0.005));
  CHECK(estimate.noise == doctest::Approx((0.000025 + 0.0025) / 2));
}

TEST_CASE("an accuracy that is no number teaches nothing") {
  SensitivityEstimate estimate = {{0.1}, 0.01, 0.02};
  update_sensitivity(estimate, {Values{0}, Values{0.5}, std::nan("")}, 0.5);
  CHECK(estimate.sensitivity == Values{0.1});
  CHECK(estimate.trend == 0.01);
  CHECK(estimate.noise == 0.02);
}

TEST_CASE("sensitivities are learned from iterations that prune layers together, noise or not") {
  const Values truth = {0.02, 0.2, 0.05};
  for (const double noise : {0.0, 0.01}) {
    CAPTURE(noise);
    Random random(2);
    SensitivityEstimate estimate;
    estimate.sensitivity.assign(3, 0.0);
    for (int i = 0; i < 600; ++i) {
      Values after(3, 0.0);
      double change = random.normal(0.0, noise);
      for (std::size_t l = 0; l < 3; ++l) {
        const double fall = random.chance(0.5) ? random.uniform(0.0, 0.4) : 0.0;
        after[l] = 1 - std::exp(-fall);
        change -= truth[l] * fall;
      }
      update_sensitivity(estimate, {Values(3, 0.0), after, change}, 0.1);
    }
    CHECK(estimate.sensitivity[1] > estimate.sensitivity[2] + 0.05);
    CHECK(estimate.sensitivity[2] > estimate.sensitivity[0] + 0.01);
  }
}

TEST_CASE("sensitive layers are less willing and noise alone makes little difference") {
  const LayerBudget budget = equal_layers(3);
  const Values dense(3, 0.0);
  const Values willing = willingness(Values{0.0, 0.1, 0.2}, dense, 0.5, budget);
  CHECK(willing[0] == doctest::Approx(std::exp(1.0)));  // 1.22 deviations below, limited to 1
  CHECK(willing[1] == doctest::Approx(1.0));
  CHECK(willing[2] == doctest::Approx(std::exp(-1.0)));

  const Values noise = willingness(Values{0.0, 0.001, 0.002}, dense, 0.5, budget);
  CHECK(noise[0] == doctest::Approx(std::exp(0.02)));
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
  CHECK(migration_rate(std::vector<Migration>{{0, 50, 50, 50}}, 1) == 0.0);
  CHECK(migration_rate(std::vector<Migration>{{50, 0, 100, 100}}, 1) == 0.0);
  const std::vector<Migration> two = {{2, 12, 60, 60}, {3, 3, 40, 40}};
  CHECK(migration_rate(two, 2) == 0.05);
  CHECK(migration_rate(two, 1) == 0.1);  // of one layer, twice: 5 of 50 that it keeps
  CHECK(migration_rate({}, 2) == 0.0);
  CHECK(migration_rates(two, 2) == Values{2.0 / 60, 3.0 / 40});
  CHECK(migration_rates(two, 1) == Values{0.1});
  CHECK(migration_rates({}, 2) == Values{0.0, 0.0});
}

TEST_CASE("alpha falls when many blocks migrate and rises when none do, within its limits") {
  EvolutionConfig config;
  config.alpha_step = 0.2;
  config.migration_goal = 0.02;
  config.alpha_min = 0.05;
  config.alpha_max = 0.15;
  CHECK(next_alpha(0.1, 0.02, 1, config) == doctest::Approx(0.1));
  CHECK(next_alpha(0.1, 0.0, 1, config) == doctest::Approx(0.12));
  CHECK(next_alpha(0.1, 0.0, 4, config) == doctest::Approx(0.105));
  CHECK(next_alpha(0.1, 0.01, 1, config) == doctest::Approx(0.11));
  CHECK(next_alpha(0.12, 0.04, 1, config) == doctest::Approx(0.06));
  CHECK(next_alpha(0.12, 0.04, 4, config) == doctest::Approx(0.06));
  CHECK(next_alpha(0.145, 0.0, 1, config) == 0.15);
  CHECK(next_alpha(0.055, 1.0, 1, config) == 0.05);
  config.alpha_min = 0.0;
  CHECK(next_alpha(0.0, 0.0, 1, config) == 0.0);
  config.migration_goal = 0.0;
  CHECK(next_alpha(0.1, 0.0, 1, config) == doctest::Approx(0.1));
}

TEST_CASE("each layer's alpha follows its own masks, one after the other") {
  EvolutionConfig config;
  config.alpha_step = 0.2;
  config.migration_goal = 0.02;
  // Two masks of two layers: 1 of 100 blocks moves, that is 2 % in an iteration, then 4; 0, then 0.
  const std::vector<Migration> moved = {
      {1, 1, 100, 100}, {0, 5, 50, 50}, {4, 6, 100, 100}, {9, 0, 60, 60}};
  const Values alphas = next_alphas({0.1, 0.1}, moved, 2, config);
  CHECK(alphas[0] == doctest::Approx(0.1 * 0.02 / 0.08));
  CHECK(alphas[1] == doctest::Approx(0.1 * 1.1 * 1.1));
  CHECK(next_alphas({0.1, 0.2}, {}, 2, config) == Values{0.1, 0.2});
}

}  // namespace
}  // namespace winnow
