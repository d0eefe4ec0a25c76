#include "prune/evolution/budget/allocation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "runtime/base/random.h"

namespace winnow {
namespace {

constexpr Allocation kAll[] = {Allocation::uniform, Allocation::erk, Allocation::global,
                               Allocation::lamp, Allocation::least_loss};

PrunableLayer layer_of(const std::string& name, std::vector<std::int64_t> shape) {
  std::int64_t weights = 1;
  for (const std::int64_t size : shape) weights *= size;
  return {.name = name, .blocks = weights, .weights = weights, .shape = std::move(shape)};
}

// The exact curve of these magnitudes.
MagnitudeCurve curve_of(std::vector<double> magnitudes) {
  std::sort(magnitudes.rbegin(), magnitudes.rend());
  MagnitudeCurve curve{.ranks = curve_ranks(static_cast<std::int64_t>(magnitudes.size()))};
  double squares = 0.0;
  for (std::size_t rank = 0; rank < magnitudes.size(); ++rank) {
    squares += magnitudes[rank] * magnitudes[rank];
    if (static_cast<std::int64_t>(rank) != curve.ranks[curve.magnitudes.size()]) continue;
    curve.magnitudes.push_back(magnitudes[rank]);
    curve.squares.push_back(squares);
  }
  return curve;
}

EvolutionConfig config_of(double sparsity) {
  EvolutionConfig config;
  config.target_sparsity = sparsity;
  config.max_layer_sparsity = 0.999;
  return config;
}

}  // namespace

TEST_CASE("curve_ranks has the first ranks, the last one, and few between") {
  CHECK(curve_ranks(0).empty());
  CHECK(curve_ranks(1) == std::vector<std::int64_t>{0});
  CHECK(curve_ranks(3) == std::vector<std::int64_t>{0, 1, 2});
  const std::vector<std::int64_t> ranks = curve_ranks(2'000'003);
  CHECK(ranks[100] == 100);
  CHECK(ranks.back() == 2'000'002);
  CHECK(ranks.size() < 2000);
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    CHECK(ranks[i] > ranks[i - 1]);
    CHECK(ranks[i] - ranks[i - 1] <= 1 + ranks[i - 1] / 128);
  }
}

TEST_CASE("uniform gives every layer the same density") {
  const std::vector<PrunableLayer> layers = {layer_of("a", {10, 10}), layer_of("b", {100, 10})};
  const LayerBudget budget(config_of(0.9), layers);
  const auto sparsities = allocate(Allocation::uniform, 0.1, budget, {});
  CHECK(sparsities[0] == doctest::Approx(0.9).epsilon(0.01));
  CHECK(sparsities[1] == doctest::Approx(0.9).epsilon(0.01));
}

TEST_CASE("erk keeps more of small layers, in the proportion of its formula") {
  // (3 + 4 + 1 + 1) / 12 = 0.75 and (30 + 40 + 1 + 1) / 1200 = 0.06 per unit of scale.
  const std::vector<PrunableLayer> layers = {layer_of("a", {3, 4, 1, 1}),
                                             layer_of("b", {30, 40, 1, 1})};
  const LayerBudget budget(config_of(0.97), layers);
  const auto sparsities = allocate(Allocation::erk, 0.03, budget, {});
  // 12 * 0.75 x + 1200 * 0.06 x = 36.36 at x = 0.4489.
  CHECK(1 - sparsities[0] == doctest::Approx(0.3367).epsilon(0.1));
  CHECK(1 - sparsities[1] == doctest::Approx(0.02693).epsilon(0.03));
}

TEST_CASE("global and lamp keep the blocks of the largest scores") {
  const std::vector<PrunableLayer> layers = {layer_of("a", {5}), layer_of("b", {5})};
  const std::vector<MagnitudeCurve> curves = {curve_of({10, 9, 8, 0.5, 0.1}),
                                              curve_of({1, 1, 1, 1, 1})};
  const LayerBudget budget(config_of(0.5), layers);
  const auto global = allocate(Allocation::global, 0.4, budget, curves);
  CHECK(global[0] == doctest::Approx(0.4));    // 10, 9, 8
  CHECK(global[1] == doctest::Approx(0.999));  // none; a mask keeps one all the same
  // Scores a: 1, 81/181, 64/245, ...; b: 1, 1/2, 1/3, 1/4, 1/5. The six best: 1, 0.4475, 0.2612
  // and 1, 0.5, 0.3333.
  const auto lamp = allocate(Allocation::lamp, 0.6, budget, curves);
  CHECK(lamp[0] == doctest::Approx(0.4));
  CHECK(lamp[1] == doctest::Approx(0.4));
}

TEST_CASE("least_loss counts what a weight costs, and layers lose more alike with a power") {
  std::vector<PrunableLayer> layers = {layer_of("a", {400}), layer_of("b", {400})};
  layers[0].macs_per_weight = 16.0;
  std::vector<double> magnitudes;
  for (int i = 0; i < 400; ++i) magnitudes.push_back(std::exp(-i / 100.0));
  const std::vector<MagnitudeCurve> curves = {curve_of(magnitudes), curve_of(magnitudes)};
  EvolutionConfig config = config_of(0.8);
  config.budget = Budget::macs;
  const auto losses = [&](double power) {
    config.loss_power = power;
    const LayerBudget budget(config, layers);
    const auto sparsities = allocate(Allocation::least_loss, budget.goal_density(), budget, curves);
    std::vector<double> found;
    for (std::size_t i = 0; i < 2; ++i) {
      found.push_back(loss_of(curves[i], budget.most_kept(i, sparsities[i])));
    }
    return found;
  };
  const std::vector<double> plain = losses(1.0), even = losses(8.0);
  CHECK(plain[0] > plain[1]);  // a's weights cost more
  CHECK(even[0] + even[1] > plain[0] + plain[1]);
  CHECK(even[0] - even[1] < 0.5 * (plain[0] - plain[1]));
  CHECK(even[0] < plain[0]);
}

TEST_CASE("every allocation meets the density, whatever the layers") {
  Random random(3);
  for (int round = 0; round < 60; ++round) {
    std::vector<PrunableLayer> layers;
    std::vector<MagnitudeCurve> curves;
    const std::size_t count = 1 + random.below(5);
    for (std::size_t i = 0; i < count; ++i) {
      const auto side = [&] { return static_cast<std::int64_t>(1 + random.below(40)); };
      layers.push_back(layer_of("layer" + std::to_string(i), {side(), side(), 3}));
      layers.back().macs_per_weight = 1.0 + static_cast<double>(random.below(50));
      std::vector<double> magnitudes;
      const double scale = std::exp(random.uniform(-3, 3));
      for (std::int64_t b = 0; b < layers.back().blocks; ++b) {
        magnitudes.push_back(scale * -std::log(1.0 - random.uniform()));
      }
      curves.push_back(curve_of(magnitudes));
    }
    EvolutionConfig config = config_of(random.uniform(0.1, 0.95));
    config.budget = random.chance(0.5) ? Budget::macs : Budget::parameters;
    if (count > 1 && random.chance(0.3)) config.exclude = {"layer0"};
    if (random.chance(0.3)) config.layer_limits = {{layers.back().name, 0.2, 0.9}};
    const LayerBudget budget(config, layers);
    double largest = 0.0;  // block, as a share of the budget: what a layer may miss
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<double> none(count, 0.0);
      const double whole = budget.kept_cost(i, 0.0) / static_cast<double>(layers[i].blocks);
      double total = 0.0;
      for (std::size_t j = 0; j < count; ++j) total += budget.kept_cost(j, 0.0);
      largest = std::max(largest, whole / total);
    }
    for (const Allocation kind : kAll) {
      const double wanted = budget.goal_density();
      const auto sparsities = allocate(kind, wanted, budget, curves);
      const double density = budget.planned_density(sparsities);
      CHECK(density <= wanted);
      CHECK(density >= wanted - 2.0 * static_cast<double>(count) * largest - 0.01 * wanted);
      for (std::size_t i = 0; i < count; ++i) {
        CHECK(sparsities[i] >= budget.range(i).min);
        CHECK(sparsities[i] <= budget.range(i).max);
      }
    }
  }
}

}  // namespace winnow
