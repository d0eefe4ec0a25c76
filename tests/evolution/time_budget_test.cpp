// LayerBudget and the allocations with a budget of time.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "prune/evolution/budget/allocation.h"
#include "prune/evolution/budget/least_loss_allocation.h"
#include "prune/evolution/evolution.h"
#include "prune/evolution/population/operators.h"
#include "tests/evolution/random_time.h"
#include "tests/evolution/synthetic_trainee.h"
#include "tests/throws.h"

namespace winnow {
namespace {

constexpr Allocation kAll[] = {Allocation::uniform, Allocation::erk, Allocation::global,
                               Allocation::lamp, Allocation::least_loss};

// Two layers whose masks gain from 40 % on, and one whose dense kernel always wins.
TimeModel three_times() {
  const std::vector<std::pair<double, double>> points = {{0.1, 1.0}, {0.4, 4.0}};
  return {.device = "cpu",
          .precision = "f32",
          .dense_ms = 11.0,
          .constant_ms = 1.0,
          .layers = {{"a", 100, 4.0, points},
                     {"b", 100, 4.0, points},
                     {"c", 50, 2.0, {{0.1, 2.0}, {0.4, 2.0}}}}};
}

const std::vector<PrunableLayer> kThree = {{.name = "a", .blocks = 100, .weights = 100},
                                           {.name = "b", .blocks = 100, .weights = 100},
                                           {.name = "c", .blocks = 50, .weights = 50}};

MagnitudeCurve curve_of(std::int64_t blocks, double scale, double slope) {
  MagnitudeCurve curve;
  double squares = 0.0;
  for (std::int64_t rank = 0; rank < blocks; ++rank) {
    const double place = static_cast<double>(rank) / static_cast<double>(blocks);
    const double magnitude = scale * std::pow(1.0 - place, slope);
    squares += magnitude * magnitude;
    curve.ranks.push_back(rank);
    curve.magnitudes.push_back(magnitude);
    curve.squares.push_back(squares);
  }
  return curve;
}

double loss_of(std::span<const double> sparsities, std::span<const MagnitudeCurve> curves) {
  double loss = 0.0;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const auto blocks = static_cast<std::int64_t>(curves[i].ranks.size());
    const std::int64_t kept = kept_blocks(blocks, sparsities[i]);
    loss +=
        std::log(curves[i].squares.back() / curves[i].squares[static_cast<std::size_t>(kept - 1)]);
  }
  return loss;
}

struct Network {
  std::vector<PrunableLayer> layers;
  std::vector<MagnitudeCurve> curves;
};

Network random_network(Random& random, std::int64_t most_layers, std::int64_t most_blocks,
                       bool balances_rows = true) {
  Network network;
  const std::int64_t count = random.between(1, most_layers);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t vector = random.between(1, 4);
    const std::int64_t rows =
        !balances_rows || random.chance(0.5) ? 1 : random.between(1, 1 + most_blocks / 8);
    const std::int64_t blocks = rows * random.between(1, most_blocks / rows);
    network.layers.push_back({.name = "layer" + std::to_string(i),
                              .blocks = blocks,
                              .weights_per_block = vector,
                              .weights = blocks * vector - (vector > 1 ? 1 : 0),
                              .balanced_rows = rows,
                              .shape = {blocks, vector}});
    network.curves.push_back(curve_of(blocks, random.uniform(0.1, 3), random.uniform(0.2, 4)));
  }
  return network;
}

std::string refusal(const EvolutionConfig& config,
                    const std::vector<PrunableLayer>& layers = kThree) {
  CHECK(error_of([&] { LayerBudget(config, layers); }) == ErrorCode::usage);
  return message_of([&] { LayerBudget(config, layers); });
}

}  // namespace

TEST_CASE("a budget of time counts the layers' milliseconds and a constant") {
  const LayerBudget budget(time_config(three_times(), 2.0), kThree);
  const std::vector<std::int64_t> kept = {20, 70, 5};
  CHECK(budget.cost(kept) == doctest::Approx(1 + 2 + 4 + 2));
  CHECK(budget.goal_density() == doctest::Approx(0.5));  // 5.5 of 11 ms
  CHECK(budget.reachable_density() == doctest::Approx(5.0 / 11));
  CHECK(budget.spendable(1.0) == doctest::Approx(10.0));
  CHECK(budget.kept_cost(1, 0.8) == doctest::Approx(2.0));
  CHECK(budget.weight_density(kept) == doctest::Approx(95.0 / 250));
  EvolutionConfig in_ms = time_config(three_times(), 0.0);
  in_ms.target_ms = 8.8;
  CHECK(LayerBudget(in_ms, kThree).goal_density() == doctest::Approx(0.8));
}

EvolutionConfig config_without_b() {
  EvolutionConfig config = time_config(three_times(), 0.0);
  config.target_ms = 6.0;
  config.exclude = {"b"};
  return config;
}

TEST_CASE("an excluded layer takes its time as it is") {
  EvolutionConfig config = config_without_b();
  std::vector<PrunableLayer> layers = kThree;
  layers[1].initial_sparsity = 0.8;
  const LayerBudget budget(config, layers);
  CHECK(budget.cost(std::vector<std::int64_t>{100, 20, 50}) == doctest::Approx(9.0));
  CHECK(budget.spendable(1.0) == doctest::Approx(6.0));
  TimeModel shorter = three_times();
  shorter.layers.erase(shorter.layers.begin() + 1);
  config.time = std::make_shared<const TimeModel>(shorter);
  CHECK(LayerBudget(config, layers).cost(std::vector<std::int64_t>{100, 20, 50}) ==
        doctest::Approx(7.0));
}

TEST_CASE("above the goal densities fall where times do not, but none is at the goal too early") {
  const LayerBudget budget(time_config(three_times(), 2.0), kThree);
  const auto density = [&](std::int64_t a, std::int64_t b) {
    return budget.density(std::vector<std::int64_t>{a, b, 50});
  };
  CHECK(density(100, 100) == doctest::Approx(1.0));
  CHECK(density(70, 70) == doctest::Approx((1 + 3 + 3 + 2.0) / 11));  // straight from 10 to 100
  CHECK(density(30, 30) > budget.goal_density());                     // 9 ms
  CHECK(density(20, 10) > budget.goal_density());                     // 6 ms
  CHECK(density(15, 10) == doctest::Approx(5.5 / 11));
}

TEST_CASE("plans that meet the goal keep what costs nothing") {
  const LayerBudget budget(time_config(three_times(), 1.5), kThree);
  const std::vector<double> met = budget.densest({0.9, 0.5, 0.97});  // 1 + 1 + 4 + 2 ms
  CHECK(met == std::vector<double>{0.9, 0.5, 0.97});                 // of 7.33
  const LayerBudget eased(time_config(three_times(), 1.3), kThree);
  CHECK(eased.densest({0.9, 0.5, 0.97}) == std::vector<double>{0.9, 0.0, 0.0});
  EvolutionConfig limited = time_config(three_times(), 1.3);
  limited.layer_limits = {{"c", 0.3, 0.9}};
  CHECK(LayerBudget(limited, kThree).densest({0.9, 0.5, 0.9})[2] == doctest::Approx(0.3));
}

TEST_CASE("the allocation by time lets layers stay dense or jump") {
  const std::vector<MagnitudeCurve> curves = {curve_of(100, 0.5, 8.0), curve_of(100, 1.0, 0.01),
                                              curve_of(50, 0.01, 1.0)};
  const LayerBudget budget(time_config(three_times(), 11.0 / 8.01), kThree);
  const auto sparsities = allocate(Allocation::least_loss, budget.goal_density(), budget, curves);
  CHECK(sparsities[0] ==
        doctest::Approx(0.9));  // a keeps a larger share than b would, whatever their scales
  CHECK(sparsities[1] == doctest::Approx(0.0));
  CHECK(sparsities[2] == doctest::Approx(0.0));  // would gain nothing, small as its weights are
}

TEST_CASE("random tables: densities meet the goal when times do, and never fall as weights come") {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    const Network network = random_network(random, 4, 60);
    const TimeModel time = random_time(network.layers, random);
    const double speedup = random.uniform(1.05, 4.0);
    const LayerBudget budget(time_config(time, speedup), network.layers);
    const double goal_ms = budget.cost_at(budget.goal_density());
    CHECK(goal_ms >= time.dense_ms / speedup - 1e-9);
    for (int draw = 0; draw < 20; ++draw) {
      std::vector<std::int64_t> less, more;
      std::vector<double> sparsities;
      for (const PrunableLayer& layer : network.layers) {
        more.push_back(random.between(1, layer.weights));
        less.push_back(random.between(1, more.back()));
        sparsities.push_back(random.uniform(0.0, 0.99));
      }
      CHECK(budget.density(less) <= budget.density(more) + 1e-12);
      CHECK((budget.density(more) <= budget.goal_density()) ==
            (budget.cost(more) / budget.cost_at(1.0) <= budget.goal_density()));
      const std::vector<double> densest = budget.densest(sparsities);
      CHECK(budget.planned_density(densest) <= budget.planned_density(sparsities) + 1e-12);
      for (std::size_t i = 0; i < densest.size(); ++i) CHECK(densest[i] <= sparsities[i]);
    }
  }
}

TEST_CASE("random tables: every allocation and operator meets the goal, and the way to it") {
  Random random(13);
  for (int round = 0; round < 150; ++round) {
    CAPTURE(round);
    const Network network = random_network(random, 5, 400);
    EvolutionConfig config =
        time_config(random_time(network.layers, random), random.uniform(1.05, 4.0));
    if (random.chance(0.3)) config.layer_limits = {{network.layers.back().name, 0.2, 0.9}};
    const LayerBudget budget(config, network.layers);
    const double goal = budget.goal_density();
    const double densest = budget.planned_density(allocate(Allocation::uniform, 1.0, budget, {}));
    for (const Allocation kind : kAll) {
      CAPTURE(static_cast<int>(kind));
      const double between = goal + (densest - goal) * random.uniform();
      for (const double wanted : {goal, std::max(goal, between)}) {
        const auto sparsities = allocate(kind, wanted, budget, network.curves);
        CHECK(budget.planned_density(sparsities) <= wanted);
        for (std::size_t i = 0; i < sparsities.size(); ++i) {
          CHECK(sparsities[i] >= budget.range(i).min);
          CHECK(sparsities[i] <= budget.range(i).max);
        }
      }
    }
    const std::vector<double> start(budget.size(), 0.1), willing(budget.size(), 1.0);
    std::vector<std::int64_t> layers(budget.size());
    std::iota(layers.begin(), layers.end(), 0);
    const auto raised = increment(start, layers, willing, {goal, 1.0}, budget);
    CHECK(budget.planned_density(raised) <= goal);
    CHECK(budget.planned_density(with_density(start, goal, budget)) <= goal);
  }
}

TEST_CASE("the allocation by time loses at most one step more than the best of all plans") {
  Random random(17);
  int close = 0;
  for (int round = 0; round < 100; ++round) {
    CAPTURE(round);
    Network network = random_network(random, 3, 8, false);
    for (PrunableLayer& layer : network.layers) {
      layer.weights_per_block = 1;
      layer.weights = layer.blocks;
    }
    const LayerBudget budget(
        time_config(random_time(network.layers, random), random.uniform(1.1, 3.0)), network.layers);
    const double goal = budget.goal_density();
    const double most = budget.cost_at(goal) * (1.0 + 1e-12);
    double best = 1e300, largest = 0.0;
    std::vector<std::int64_t> kept(network.layers.size(), 1);
    for (bool is_over = false; !is_over;) {  // all plans
      if (budget.cost(kept) <= most) {
        std::vector<double> plan;
        for (std::size_t i = 0; i < kept.size(); ++i) {
          plan.push_back(1.0 - static_cast<double>(kept[i]) /
                                   static_cast<double>(network.layers[i].blocks));
        }
        best = std::min(best, loss_of(plan, network.curves));
      }
      is_over = true;
      for (std::size_t i = 0; i < kept.size() && is_over; ++i) {
        is_over = kept[i] == network.layers[i].blocks;
        kept[i] = is_over ? 1 : kept[i] + 1;
      }
    }
    for (const MagnitudeCurve& curve : network.curves) {
      largest = std::max(largest, std::log(curve.squares.back() / curve.squares.front()));
    }
    const double loss = loss_of(least_loss_within(goal, budget, network.curves), network.curves);
    CHECK(loss >= best - 1e-9);
    CHECK(loss <= best + largest);
    close += loss <= best * 1.1 + 1e-9 ? 1 : 0;
  }
  CHECK(close > 60);
}

TEST_CASE("evolution under random tables meets the time or names the limits that forbid it") {
  Random random(19);
  int met = 0;
  for (int round = 0; round < 25; ++round) {
    CAPTURE(round);
    std::vector<SyntheticLayer> layers;
    for (std::int64_t i = random.between(2, 6); i > 0; --i) {
      const std::int64_t rows = random.chance(0.5) ? 1 : random.between(2, 40);
      layers.push_back({.blocks = rows * random.between(10, 20000 / rows),
                        .tolerance = random.uniform(0.1, 0.97),
                        .cost = random.uniform(0, 0.2),
                        .shock = random.uniform(0, 0.2),
                        .rows = rows});
    }
    SyntheticTrainee trainee(layers, random.uniform());
    trainee.noise = 0.02;
    const TimeModel time = random_time(trainee.layers(), random);
    EvolutionConfig config = time_config(time, random.uniform(1.1, 2.5));
    config.iter_nr = random.between(2, 30);
    config.batch_nr = 50;
    config.seed = random.bits();
    config.offspring = random.chance(0.5) ? 7 : 1;
    config.known_allocations = true;
    Evolution evolution(config, trainee);
    while (!evolution.finished()) evolution.step();
    const EvolutionResult result = evolution.result();
    CHECK(result.target_met == result.shortfall.empty());
    CHECK(result.best.sparsity() >= result.goal - 1e-12);
    CHECK(result.target_met == (result.cost <= time.dense_ms / config.target_speedup));
    met += result.target_met ? 1 : 0;
    if (result.target_met) continue;
    const bool is_balanced = std::ranges::any_of(layers, [](auto& one) { return one.rows > 1; });
    CHECK(result.shortfall.find(is_balanced ? "exclude, with row_balance a block in every row, end"
                                            : "exclude end at") != std::string::npos);
  }
  CHECK(met > 5);
  CHECK(met < 25);
}

TEST_CASE("an excluded layer of balanced rows takes the time of what its masks keep") {
  std::vector<PrunableLayer> layers = kThree;
  layers[1].initial_sparsity = 0.82;
  layers[1].balanced_rows = 10;  // each keeps 2 of 10, not 1.8
  CHECK(LayerBudget(config_without_b(), layers).spendable(1.0) == doctest::Approx(6.0));
}

TEST_CASE("a batch norm that was deployed as a layer is a constant") {
  TimeModel time = three_times();
  LayerTimeCurve norm{.name = "norm", .weights = 8, .dense_ms = 0.5, .points = {{0.1, 0.25}}};
  norm.is_scale = true;
  time.layers.insert(time.layers.begin(), norm);
  time.dense_ms = 11.5;
  const LayerBudget budget(time_config(time, 2.0), kThree);
  CHECK(budget.cost(std::vector<std::int64_t>{20, 70, 5}) == doctest::Approx(1 + 0.5 + 2 + 4 + 2));
  CHECK(budget.cost_at(1.0) == doctest::Approx(11.5));
  CHECK(budget.spendable(1.0) == doctest::Approx(10.0));
  CHECK(dense_layers_ms(time) == doctest::Approx(10.5));
}

TEST_CASE("a budget of time refuses tables of other networks") {
  EvolutionConfig config = time_config(three_times(), 2.0);
  std::vector<PrunableLayer> layers = kThree;
  layers[2].name = "conv";
  CHECK(refusal(config, layers) == "time_table: no layer 'conv' of the network; known: a, b, c");
  layers = kThree;
  layers.pop_back();
  CHECK(refusal(config, layers) == "time_table: the network has no layer 'c'; did you mean 'a'?");
  TimeModel removed = three_times();
  removed.has_removed_layers = true;
  CHECK(LayerBudget(time_config(three_times(), 2.0), kThree).cost_at(1.0) -
            LayerBudget(time_config(removed, 2.0), layers).cost_at(1.0) ==
        doctest::Approx(removed.scale * removed.layers[2].dense_ms));
  layers = kThree;
  layers[1].weights = layers[1].blocks = 99;
  CHECK(refusal(config, layers) ==
        "time_table: layer 'b' has 100 weights there, 99 in the network");
  config.target_speedup = 0.0;
  config.target_ms = 11.0;
  CHECK(refusal(config) ==
        "target_ms: 11 ms are reached without pruning: by the table the dense network takes 11");
  config.target_ms = 0.9;
  CHECK(refusal(config) ==
        "target_ms: 0.9 ms are out of reach: by the table what is not pruned takes 1");
  config.time = nullptr;
  CHECK(refusal(config) == "time_table: missing, but budget is time");
}

TEST_CASE("a budget of time has exactly one target") {
  EvolutionConfig config = time_config(three_times(), 2.0);
  const auto message = [&] {
    CHECK(error_of([&] { check_config(config); }) == ErrorCode::usage);
    return message_of([&] { check_config(config); });
  };
  CHECK_NOTHROW(check_config(config));
  config.target_ms = 3.0;
  CHECK(message() == "target_ms: budget time needs either target_speedup or target_ms, found both");
  config.target_speedup = config.target_ms = 0.0;
  CHECK(message() ==
        "target_speedup: budget time needs either target_speedup or target_ms, found none");
  config.target_speedup = 1.0;
  CHECK(message() == "target_speedup: found 1, expected more than 1, the dense network");
  config.target_speedup = 2.0;
  config.budget = Budget::macs;
  CHECK(message() == "target_speedup: belongs to budget time, found another budget");
}

}  // namespace winnow
