// The choice of each layer's granularity by a budget of time.
#include "prune/evolution/budget/granularity_choice.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "prune/evolution/budget/least_loss_allocation.h"
#include "tests/evolution/random_time.h"
#include "tests/throws.h"

namespace winnow {
namespace {

constexpr std::int64_t kVectors[] = {1, 8};

using Points = std::vector<std::pair<double, double>>;

// Two layers of 64 weights, dense 4 ms each, and a constant of 1 ms. Vectors are twice as fast.
TimeModel two_layers() {
  const Points elements = {{0.125, 2.0}, {0.5, 4.0}}, vectors = {{0.125, 1.0}, {0.5, 2.0}};
  TimeModel time{.device = "cpu", .precision = "f32", .vector = -1, .dense_ms = 9.0};
  time.constant_ms = 1.0;
  time.granularities = {{1, {{"a", 64, 4.0, elements}, {"b", 64, 4.0, elements}}},
                        {8, {{"a", 64, 4.0, vectors}, {"b", 64, 4.0, vectors}}}};
  time.layers = time.granularities.front().layers;
  return time;
}

PrunableLayer layer_of(const std::string& name, std::int64_t blocks, std::int64_t vector) {
  return {.name = name,
          .blocks = blocks,
          .weights_per_block = vector,
          .weights = blocks * vector,
          .shape = {blocks * vector}};
}

// Of blocks of these squares, largest first.
MagnitudeCurve curve_of(const std::vector<double>& squares) {
  MagnitudeCurve curve;
  for (const double square : squares) {
    curve.ranks.push_back(static_cast<std::int64_t>(curve.ranks.size()));
    curve.magnitudes.push_back(std::sqrt(square));
    curve.squares.push_back(square + (curve.squares.empty() ? 0.0 : curve.squares.back()));
  }
  return curve;
}

// 8 large weights of 64: `together` in one vector of 8, or one in each.
MagnitudeCurve elements() {
  std::vector<double> squares(64, 0.01);
  std::fill_n(squares.begin(), 8, 1.0);
  return curve_of(squares);
}
MagnitudeCurve vectors(bool together) {
  std::vector<double> squares(8, together ? 0.08 : 1.07);
  if (together) squares[0] = 8.0;
  return curve_of(squares);
}

std::vector<LayersOfGranularity> both() {
  return {{{layer_of("a", 64, 1), layer_of("b", 64, 1)}, {elements(), elements()}},
          {{layer_of("a", 8, 8), layer_of("b", 8, 8)}, {vectors(true), vectors(false)}}};
}

double loss_of(std::span<const LayerWay> ways) {
  double loss = 0.0;
  for (const LayerWay& way : ways) loss += way.loss;
  return loss;
}

}  // namespace

TEST_CASE("a layer has vectors where its weights lie together, and elements where they do not") {
  const EvolutionConfig config = time_config(two_layers(), 9.0 / 4.01);
  const GranularityChoice choice = choose_granularities(config, both());
  CHECK(choice.vectors == std::vector<std::int64_t>{8, 1});
  CHECK(choice.sparsities == std::vector<double>{0.875, 0.875});
  CHECK(choice.predicted_ms == doctest::Approx(1 + 1 + 2.0));
  const TimeModel time = with_granularities(two_layers(), choice.vectors, both()[0].layers);
  CHECK(time.layers[0].points[0].second == 1.0);
  CHECK(time.layers[1].points[0].second == 2.0);
  CHECK(time.granularities.size() == 2);
}

TEST_CASE("a layer that stays dense has the granularity in which it would be pruned next") {
  const EvolutionConfig config = time_config(two_layers(), 9.0 / 7.5);
  const GranularityChoice choice = choose_granularities(config, both());
  CHECK(choice.sparsities[1] == 0.0);
  CHECK(choice.vectors == std::vector<std::int64_t>{8, 1});
}

TEST_CASE("excluded layers keep what they are, and times of other granularities are refused") {
  EvolutionConfig config = time_config(two_layers(), 9.0 / 6.5);
  config.exclude = {"b"};
  const GranularityChoice choice = choose_granularities(config, both());
  CHECK(choice.vectors == std::vector<std::int64_t>{8, 1});
  CHECK(choice.sparsities[1] == 0.0);
  CHECK(choice.predicted_ms <= 6.5);
  const auto act = [] { with_granularities(two_layers(), {16, 1}, both()[0].layers); };
  CHECK(error_of(act) == ErrorCode::usage);
  CHECK(message_of(act) == "granularity: the table has no times of vectors of 16");
}

TEST_CASE(
    "random networks: a mix loses no more than one granularity, but for a step, in the time") {
  Random random(29);
  int better = 0;
  for (int round = 0; round < 100; ++round) {
    CAPTURE(round);
    std::vector<LayersOfGranularity> granularities(2);
    double largest = 0.0;
    for (std::int64_t i = random.between(1, 5); i > 0; --i) {
      const std::int64_t blocks = random.between(2, 30);
      const std::string name = "layer" + std::to_string(i);
      std::vector<double> squares(static_cast<std::size_t>(8 * blocks)), groups;
      const double spread = random.uniform(0.1, 6.0);
      for (double& square : squares) square = std::exp(random.uniform(-spread, spread));
      for (std::size_t g = 0; g < squares.size(); g += 8) {
        double sum = 0.0;
        for (std::size_t k = g; k < g + 8; ++k) sum += squares[k];
        groups.push_back(sum);
      }
      std::ranges::sort(squares, std::greater<>());
      std::ranges::sort(groups, std::greater<>());
      granularities[0].layers.push_back(layer_of(name, 8 * blocks, 1));
      granularities[0].curves.push_back(curve_of(squares));
      granularities[1].layers.push_back(layer_of(name, blocks, 8));
      granularities[1].curves.push_back(curve_of(groups));
      for (const LayersOfGranularity& one : granularities) {
        const std::vector<double>& sums = one.curves.back().squares;
        largest = std::max(largest, std::log(sums.back() / sums.front()));
      }
    }
    TimeModel time = random_time(granularities[0].layers, random);
    for (const std::int64_t vector : kVectors) {
      MaskTimes of_vector{vector, random_time(granularities[0].layers, random).layers};
      for (std::size_t i = 0; i < time.layers.size(); ++i) {
        of_vector.layers[i].dense_ms = time.layers[i].dense_ms;
        for (auto& [density, ms] : of_vector.layers[i].points) {
          ms = std::min(ms, time.layers[i].dense_ms);
        }
      }
      time.granularities.push_back(std::move(of_vector));
    }
    const EvolutionConfig config = time_config(time, random.uniform(1.1, 3.0));
    const double target = time.dense_ms / config.target_speedup;
    if (target <= time.constant_ms) continue;
    std::vector<LayerBudget> budgets;
    std::vector<TimeOption> options;
    budgets.reserve(2);
    for (std::size_t g = 0; g < 2; ++g) {
      TimeModel own = time;
      own.layers = time.granularities[g].layers;
      EvolutionConfig alone = config;
      alone.time = std::make_shared<const TimeModel>(own);
      budgets.emplace_back(alone, granularities[g].layers);
      options.push_back({&budgets[g], granularities[g].curves});
    }
    const double density = budgets[0].target_density();
    const auto ways = least_loss_ways(density, options);
    const GranularityChoice choice = choose_granularities(config, granularities);
    double best = 1e300;
    bool can_meet = false;
    for (const TimeOption& option : options) {
      const auto alone = least_loss_ways(density, {&option, 1});
      double cost = 0.0;
      for (const LayerWay& way : alone) cost += way.cost;
      if (cost > budgets[0].spendable(density)) continue;
      can_meet = true;
      best = std::min(best, loss_of(alone));
    }
    if (!can_meet) continue;
    CHECK(choice.predicted_ms <= target * (1 + 1e-9));
    CHECK(loss_of(ways) <= best + largest);
    better += loss_of(ways) < best - 1e-9 ? 1 : 0;
    for (std::size_t i = 0; i < ways.size(); ++i) {
      CHECK(choice.vectors[i] == kVectors[ways[i].option]);
    }
  }
  CHECK(better > 20);
}

}  // namespace winnow
