#include "prune/evolution/population/operators.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "prune/evolution/layer_choice.h"

namespace winnow {
namespace {

using Sparsities = std::vector<double>;
using Layers = std::vector<std::int64_t>;

std::vector<PrunableLayer> layers_of(const std::vector<std::int64_t>& blocks) {
  std::vector<PrunableLayer> layers;
  for (const std::int64_t count : blocks) {
    layers.push_back({"layer" + std::to_string(layers.size()), count, 1, count, 1.0});
  }
  return layers;
}

LayerBudget budget_of(const std::vector<std::int64_t>& blocks, EvolutionConfig config = {}) {
  return LayerBudget(config, layers_of(blocks));
}

// Layers, sparsities and willingness drawn at random.
struct Case {
  LayerBudget budget;
  Sparsities sparsities;
  std::vector<double> willing;
  Layers layers;
};

Case random_case(Random& random) {
  std::vector<std::int64_t> blocks;
  for (std::int64_t i = random.between(1, 12); i > 0; --i) {
    blocks.push_back(random.between(1, 100000));
  }
  Case c{budget_of(blocks), {}, {}, {}};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    c.sparsities.push_back(random.uniform(0.0, 0.99));
    c.willing.push_back(random.uniform(0.01, 5.0));
    if (random.chance(0.6)) c.layers.push_back(static_cast<std::int64_t>(i));
  }
  return c;
}

TEST_CASE("an increment gives the goal with the least rise and willing layers give more") {
  // Willingness 2 and 1: densities 0.25 and 0.5 are one x, and their mean is 0.375.
  const LayerBudget budget = budget_of({1000, 1000});
  const Sparsities raised =
      increment(Sparsities{0, 0}, Layers{0, 1}, std::vector<double>{2, 1}, {0.375, 1.0}, budget);

  CHECK(raised[0] == doctest::Approx(0.75).epsilon(0.002));
  CHECK(raised[1] == doctest::Approx(0.5).epsilon(0.002));
  CHECK(budget.planned_density(raised) == 0.375);
}

TEST_CASE("an increment stops at the step and at the layer's largest sparsity") {
  const LayerBudget budget = budget_of({1000, 1000});
  const Sparsities stepped =
      increment(Sparsities{0.5, 0}, Layers{0, 1}, std::vector<double>{1, 1}, {0.01, 0.2}, budget);
  const Sparsities capped =
      increment(Sparsities{0.5, 0}, Layers{0}, std::vector<double>{1, 1}, {0.01, 1.0}, budget);

  CHECK(stepped[0] == doctest::Approx(0.6));
  CHECK(stepped[1] == doctest::Approx(0.2));
  CHECK(capped == Sparsities{0.99, 0});
}

TEST_CASE("an unwilling layer is not pressed when it is chosen alone") {
  // By kept cost the mean willingness is 1.9. The step there is a factor of 0.75.
  const LayerBudget budget = budget_of({10000, 90000});
  const Sparsities raised =
      increment(Sparsities{0, 0}, Layers{0}, std::vector<double>{1, 2}, {0.1, 0.25}, budget);
  CHECK(1 - raised[0] == doctest::Approx(std::pow(0.75, 1 / 1.9)));
}

TEST_CASE("increments over random layers never lower a sparsity and meet the goal if they can") {
  Random random(5);
  int met = 0;
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const Case c = random_case(random);
    const double before = c.budget.planned_density(c.sparsities);
    const Increment goal = {before * random.uniform(0.3, 1.0), random.uniform(0.1, 0.99)};
    const Sparsities after = increment(c.sparsities, c.layers, c.willing, goal, c.budget);
    Sparsities most = c.sparsities;  // all that the step allows
    for (const std::int64_t layer : c.layers) {
      const auto i = static_cast<std::size_t>(layer);
      most[i] = std::max(most[i], std::min(0.99, 1 - (1 - c.sparsities[i]) * (1 - goal.step)));
    }
    for (std::size_t i = 0; i < after.size(); ++i) {
      CHECK(after[i] >= c.sparsities[i]);
      CHECK(after[i] <= most[i] + 1e-12);
    }
    const double reached = c.budget.planned_density(after);
    CHECK(reached >= c.budget.planned_density(most));
    met += reached <= goal.density ? 1 : 0;
    const Increment reachable = {std::max(goal.density, c.budget.reachable_density()), 1.0};
    const Sparsities all =
        increment(c.sparsities, all_layers(c.budget), c.willing, reachable, c.budget);
    CHECK(c.budget.planned_density(all) <= reachable.density);
  }
  CHECK(met > 30);
}

TEST_CASE("halfway prunes half as much in log density and takes nothing back") {
  const Sparsities middle = halfway(Sparsities{0.0, 0.5, 0.8}, Sparsities{0.75, 0.5, 0.1});
  CHECK(middle[0] == doctest::Approx(0.5));
  CHECK(middle[1] == 0.5);
  CHECK(middle[2] == 0.8);
}

TEST_CASE("all layers at their largest sparsities reach the least density that a budget states") {
  Random random(6);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    EvolutionConfig config;
    config.max_layer_sparsity = random.uniform(0.1, 0.99);
    config.target_sparsity = 0.995;
    const LayerBudget budget =
        budget_of({random.between(1, 50), random.between(1, 5000), random.between(1, 500)}, config);
    const Sparsities start(3, random.uniform(0.0, config.max_layer_sparsity));
    const Sparsities raised =
        increment(start, all_layers(budget), std::vector<double>{0.3, 1.0, 2.0},
                  {budget.goal_density(), 1.0}, budget);
    CHECK(budget.planned_density(raised) == budget.reachable_density());
  }
}

TEST_CASE("mutation changes the given layers only, within its range and the layers' limits") {
  Random random(7);
  int changed = 0;
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const Case c = random_case(random);
    const Sparsities mutated = mutate(c.sparsities, c.layers, 0.3, c.budget, random);
    for (std::size_t i = 0; i < mutated.size(); ++i) {
      const bool given = std::count(c.layers.begin(), c.layers.end(), std::int64_t(i)) > 0;
      if (!given) {
        CHECK(mutated[i] == c.sparsities[i]);
        continue;
      }
      const double change = std::log((1 - mutated[i]) / (1 - c.sparsities[i]));
      CHECK(std::abs(change) <= 0.3 + 1e-9);
      CHECK(mutated[i] >= 0.0);
      CHECK(mutated[i] <= 0.99);
      changed += mutated[i] != c.sparsities[i] ? 1 : 0;
    }
  }
  CHECK(changed > 500);
}

TEST_CASE("mutation respects a layer's own limits and leaves excluded layers dense") {
  EvolutionConfig config;
  config.layer_limits = {{"layer0", 0.4, 0.5}};
  config.exclude = {"layer1"};
  const LayerBudget budget = budget_of({100, 100, 100}, config);
  Random random(8);
  for (int round = 0; round < 50; ++round) {
    const Sparsities mutated = mutate(Sparsities{0.45, 0, 0.5}, Layers{0, 1}, 2.0, budget, random);
    CHECK(mutated[0] >= 0.4);
    CHECK(mutated[0] <= 0.5);
    CHECK(mutated[1] == 0.0);
  }
}

TEST_CASE("crossover exchanges sparsities in some layers and loses none") {
  Random random(9);
  const Sparsities first = {0.1, 0.2, 0.3, 0.4};
  const Sparsities second = {0.5, 0.6, 0.7, 0.8};
  std::vector<int> times(4, 0);
  for (int round = 0; round < 200; ++round) {
    Sparsities a = first, b = second;
    const Layers layers = cross(a, b, random);
    REQUIRE(!layers.empty());
    for (std::size_t i = 0; i < 4; ++i) {
      const bool exchanged = std::count(layers.begin(), layers.end(), std::int64_t(i)) > 0;
      CHECK(a[i] == (exchanged ? second[i] : first[i]));
      CHECK(b[i] == (exchanged ? first[i] : second[i]));
      times[i] += exchanged ? 1 : 0;
    }
  }
  for (const int count : times) CHECK((count > 70 && count < 140));  // near 1/2 each
}

TEST_CASE("chosen layers are distinct, in order, of the number asked for and with room") {
  const LayerBudget budget = budget_of({10, 10, 10, 10, 10});
  Random random(10);
  std::vector<int> times(5, 0);
  const std::vector<double> willing = {4, 1, 1, 1, 1};
  for (int round = 0; round < 500; ++round) {
    const Layers layers =
        choose_layers(Sparsities{0, 0, 0, 0, 0.99}, willing, {0.5, 0.2}, budget, random);
    REQUIRE(layers.size() == 2);  // ceil(0.5 * 4)
    CHECK(layers[0] < layers[1]);
    for (const std::int64_t layer : layers) ++times[static_cast<std::size_t>(layer)];
  }
  CHECK(times[4] == 0);  // no room
  CHECK(times[0] > times[1] + 100);
  CHECK(times[1] > 100);
}

TEST_CASE("a layer nearer to its largest sparsity is chosen less often") {
  const LayerBudget budget = budget_of({10, 10});
  Random random(11);
  int near = 0;
  for (int round = 0; round < 300; ++round) {
    near += choose_layers(Sparsities{0.9, 0}, std::vector<double>{1, 1}, {0.5, 0.0}, budget,
                          random)[0] == 0
                ? 1
                : 0;
  }
  CHECK(near > 60);
  CHECK(near < 140);  // ln 10 / ln 100 is half of the other's room: 1/3 of 300 expected
}

TEST_CASE("with no room left every layer that is not excluded can be chosen") {
  EvolutionConfig config;
  config.exclude = {"layer1"};
  const LayerBudget budget = budget_of({10, 10, 10}, config);
  Random random(12);
  CHECK(choose_layers(Sparsities{0.99, 0, 0.99}, std::vector<double>{1, 0, 1}, {1.0, 0.2}, budget,
                      random) == Layers{0, 2});
}

}  // namespace
}  // namespace winnow
