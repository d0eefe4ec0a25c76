#include "prune/methods/predicted_saving.h"

#include <doctest/doctest.h>

namespace winnow {
namespace {

const std::vector<PrunableLayer> kLayers = {
    {"conv1", 1000, 1, 1000, 50.0}, {"conv2", 3000, 1, 3000, 10.0}, {"fc", 6000, 1, 6000, 1.0}};

TEST_CASE("by weights every weight is worth the same") {
  const LayerBudget budget(EvolutionConfig{}, kLayers);
  const auto savings = predicted_savings(budget, std::vector<std::int64_t>{1000, 1500, 6000});
  for (const double saving : savings) CHECK(saving == doctest::Approx(1.0).epsilon(0.03));
}

TEST_CASE("by multiply-accumulates a weight is worth its positions, over their mean") {
  EvolutionConfig config;
  config.budget = Budget::macs;
  const LayerBudget budget(config, kLayers);
  const auto savings = predicted_savings(budget, std::vector<std::int64_t>{1000, 3000, 6000});
  const double mean = (50 * 1000 + 10 * 3000 + 1 * 6000) / 10000.0;
  CHECK(savings[0] == doctest::Approx(50 / mean).epsilon(0.03));
  CHECK(savings[1] == doctest::Approx(10 / mean).epsilon(0.03));
  CHECK(savings[2] == doctest::Approx(1 / mean).epsilon(0.03));
}

TEST_CASE("layers that are excluded or at their limit save nothing") {
  EvolutionConfig config;
  config.budget = Budget::macs;
  config.exclude = {"conv1"};
  config.layer_limits = {{"fc", 0.0, 0.5}};
  const LayerBudget budget(config, kLayers);
  const auto savings = predicted_savings(budget, std::vector<std::int64_t>{1000, 3000, 3000});
  CHECK(savings[0] == 0.0);
  CHECK(savings[1] == doctest::Approx(1.0));
  CHECK(savings[2] == 0.0);
}

TEST_CASE("a channel saves what reads it too, while that is there") {
  // Two units of 10 channels: 9 weights for each pair of the second's and the first's.
  std::vector<PrunableLayer> layers = {{"a", 10, 9, 90, 1.0}, {"b", 10, 90, 900, 1.0}};
  layers[0].costs = {{ChannelCost::kNone, 9, 9}};
  layers[1].costs = {{0, 9, 9}, {ChannelCost::kNone, 1, 1}};
  const LayerBudget budget(EvolutionConfig{}, layers);
  const auto savings = predicted_savings(budget, std::vector<std::int64_t>{90, 900});
  // A channel of a saves 9 + 90 weights by its 9, one of b 90 + 1 by its 90.
  CHECK(savings[0] / savings[1] == doctest::Approx((99 / 9.0) / (91 / 90.0)).epsilon(0.01));
}

}  // namespace
}  // namespace winnow
