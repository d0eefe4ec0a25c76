#include "prune/methods/group_cut.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "runtime/base/random.h"

namespace winnow {
namespace {

using Bits = std::vector<std::uint8_t>;

// Two layers [2, 3] and [4, 2].
const std::vector<PrunableLayer> kLayers = {
    {.name = "a", .blocks = 6, .weights = 6, .shape = {2, 3}},
    {.name = "b", .blocks = 8, .weights = 8, .shape = {4, 2}}};

TEST_CASE("groups of norm 0 die, but a layer keeps one of each kind") {
  const std::vector<GroupNorms> norms = {{{0.0, 2.0}, {1.0, 0.0, 3.0}}, {{}, {0.0, 0.0}}};
  const auto kept = living_groups(norms);
  CHECK(kept[0].filters == Bits{0, 1});
  CHECK(kept[0].shapes == Bits{1, 0, 1});
  CHECK(kept[1].filters.empty());
  CHECK(kept[1].shapes == Bits{1, 0});
  CHECK(weights_kept(kLayers[0], kept[0]) == 2);
  CHECK(weights_kept(kLayers[1], kept[1]) == 4);
}

TEST_CASE("the weakest groups go first, by their norm over the mean of their layer's") {
  EvolutionConfig config;
  const LayerBudget budget(config, kLayers);
  // Scores: 1.5, 0.5, 1 (two weights each) and 5/3, 1/3 (four weights each).
  const std::vector<GroupNorms> norms = {{{1, 1}, {30, 10, 20}}, {{}, {0.5, 0.1}}};
  const std::vector<std::int64_t> now = {6, 8};
  const auto cut = [&](double density) {
    return cut_groups(norms, living_groups(norms), true, density, now, budget);
  };
  CHECK(cut(1.0)[1].shapes == Bits{1, 1});
  CHECK(cut(10 / 14.0)[0].shapes == Bits{1, 1, 1});
  CHECK(cut(10 / 14.0)[1].shapes == Bits{1, 0});
  CHECK(cut(9 / 14.0)[0].shapes == Bits{1, 0, 1});
  CHECK(cut(7 / 14.0)[0].shapes == Bits{1, 0, 0});
  CHECK(cut(0.1)[0].shapes == Bits{1, 0, 0});  // one stays in each layer
  CHECK(cut(0.1)[1].shapes == Bits{1, 0});
}

TEST_CASE("a cut keeps to the ranges of the layers, and leaves excluded ones alone") {
  EvolutionConfig config;
  config.layer_limits = {{"a", 0.3, 0.4}};
  config.exclude = {"b"};
  const LayerBudget budget(config, kLayers);
  const std::vector<GroupNorms> norms = {{{1, 1}, {3, 1, 2}}, {{1, 2, 3, 4}, {1e-9, 1e-9}}};
  const std::vector<std::int64_t> now = {6, 8};
  for (const double density : {0.01, 0.99}) {
    const auto kept = cut_groups(norms, living_groups(norms), true, density, now, budget);
    CHECK(kept[0].shapes == Bits{1, 0, 1});
    CHECK(kept[1].shapes == Bits{1, 1});
  }
}

TEST_CASE("filters are cut where shapes are not, or there are none") {
  EvolutionConfig config;
  const LayerBudget budget(config, kLayers);
  const std::vector<GroupNorms> norms = {{{1, 9}, {3, 1, 2}}, {{1, 2, 3, 4}, {1, 1}}};
  const std::vector<std::int64_t> now = {6, 8};
  const auto kept = cut_groups(norms, living_groups(norms), false, 0.5, now, budget);
  CHECK(kept[0].filters == Bits{0, 1});
  CHECK(kept[0].shapes == Bits{1, 1, 1});
  CHECK(kept[1].filters == Bits{0, 0, 1, 1});
}

TEST_CASE("cuts of random norms meet the density as nearly as groups allow") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::vector<PrunableLayer> layers;
    std::vector<GroupNorms> norms;
    std::vector<std::int64_t> now;
    double largest_group = 0;
    const auto count = static_cast<std::size_t>(random.between(1, 6));
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t filters = random.between(1, 20), shapes = random.between(1, 90);
      layers.push_back({.name = std::string("l").append(std::to_string(i)),
                        .blocks = filters * shapes,
                        .weights = filters * shapes});
      GroupNorms& layer = norms.emplace_back();
      for (std::int64_t j = 0; j < filters; ++j) layer.filters.push_back(random.uniform(0.1, 1));
      for (std::int64_t j = 0; j < shapes; ++j) layer.shapes.push_back(random.uniform(0.1, 1));
      now.push_back(filters * shapes);
      largest_group = std::max(largest_group, static_cast<double>(filters));
    }
    EvolutionConfig config;
    config.max_layer_sparsity = 0.95;
    config.target_sparsity = random.uniform(0.1, 0.99);
    const LayerBudget budget(config, layers);
    const auto kept =
        cut_groups(norms, living_groups(norms), true, budget.goal_density(), now, budget);
    std::vector<std::int64_t> left;
    double total = 0;
    for (std::size_t i = 0; i < count; ++i) {
      left.push_back(weights_kept(layers[i], kept[i]));
      total += static_cast<double>(layers[i].weights);
      CHECK(left[i] >= 1);
    }
    // No layer can be below its limit by the rounding to whole groups.
    const double step = largest_group * static_cast<double>(count) / total;
    CHECK(budget.density(left) <= budget.goal_density() + step);
    CHECK(budget.density(left) >= budget.goal_density() - step);
  }
}

}  // namespace
}  // namespace winnow
