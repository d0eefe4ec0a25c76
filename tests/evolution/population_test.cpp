#include "prune/evolution/population/population.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "prune/evolution/evolution.h"
#include "tests/evolution/synthetic_trainee.h"
#include "tests/throws.h"

namespace winnow {
namespace {

const Ranking kRanking = {0.1, 0.25, 0.01};

Solution solution(std::int64_t id, double sparsity, double accuracy) {
  Solution s;
  s.id = id;
  s.density = 1.0 - sparsity;
  s.accuracy = s.level = accuracy;
  s.sparsities = s.plan = {sparsity};
  return s;
}

std::vector<std::int64_t> ids(const std::vector<Solution>& pool) {
  std::vector<std::int64_t> found;
  for (const Solution& s : pool) found.push_back(s.id);
  return found;
}

constexpr std::array<double, 4> kAlphas = {0.1, 0.1, 0.1, 0.1};  // of as many layers at most

using Ids = std::vector<std::int64_t>;

TEST_CASE("the first pool prunes a share of what masks given at the start keep") {
  SyntheticTrainee trainee({{1000}, {1000}}, 0.8);
  EvolutionConfig config;
  config.initial_sparsity_min = 0.1;
  std::vector<PrunableLayer> layers = trainee.layers();
  layers[0].initial_sparsity = 0.7;
  const LayerBudget budget(config, layers);
  Random random(1);
  for (const Solution& s : first_pool(config, budget, trainee, kAlphas, random)) {
    CHECK((s.sparsities[0] >= 1 - 0.3 * 0.9 - 1e-12 && s.sparsities[0] < 1 - 0.3 * 0.7));
    CHECK((s.sparsities[1] >= 0.1 && s.sparsities[1] < 0.3));
  }
}

TEST_CASE(
    "the first pool has random sparsities and measured accuracies, all from the same weights") {
  SyntheticTrainee trainee({{1000, 0.05}, {500, 0.05}, {200, 0.05}}, 0.8);
  EvolutionConfig config;
  config.pool_size = 5;
  config.initial_sparsity_min = 0.1;
  config.layer_limits = {{"layer2", 0.0, 0.15}};
  const LayerBudget budget(config, trainee.layers());
  Random random(1);
  const std::vector<Solution> pool = first_pool(config, budget, trainee, kAlphas, random);

  REQUIRE(ids(pool) == Ids{0, 1, 2, 3, 4});
  for (const Solution& s : pool) {
    for (const double sparsity : s.sparsities) CHECK((sparsity >= 0.1 && sparsity < 0.3));
    CHECK(s.sparsities[2] <= 0.15);
    CHECK(s.plan == s.sparsities);
    CHECK(s.density == budget.density(s.kept_weights));
    trainee.restore(*s.snapshot);
    CHECK(trainee.now().sparsities == s.sparsities);
    CHECK(trainee.measure_accuracy() == s.accuracy);
  }
  CHECK(pool[0].sparsities != pool[1].sparsities);
}

TEST_CASE("a known first pool has an allocation in each solution, and random ones behind") {
  SyntheticTrainee trainee({{1000, 0.05}, {500, 0.05}, {200, 0.05}}, 0.8);
  EvolutionConfig config;
  config.pool_size = 6;
  config.initial_sparsity_min = 0.1;
  const LayerBudget budget(config, trainee.layers());
  Random random(1), again(1);
  const std::vector<Solution> drawn = first_pool(config, budget, trainee, kAlphas, again);
  config.known_first_pool = true;
  const std::vector<Solution> pool = first_pool(config, budget, trainee, kAlphas, random);
  REQUIRE(pool.size() == 6);
  const std::vector<Allocation> known = known_allocations(budget);
  REQUIRE(known.size() == 4);  // of a share of the parameters least_loss is lamp
  for (std::size_t i = 0; i < pool.size(); ++i) {
    CAPTURE(i);
    const double density = budget.planned_density(drawn[i].sparsities);
    const std::vector<double> expected =
        i < known.size() ? allocate(known[i], density, budget, trainee.magnitude_curves())
                         : drawn[i].sparsities;
    CHECK(pool[i].sparsities == expected);
  }
}

TEST_CASE("first solutions that are equal are one, from which an evolution goes on") {
  SyntheticTrainee trainee({{1000, 0.05}, {500, 0.05}, {200, 0.05}}, 0.8);
  EvolutionConfig config;
  config.pool_size = 5;
  config.initial_sparsity_max = 0.0;
  config.iter_nr = 40;
  config.patience = 1;  // differentiates where there is little to choose from
  const LayerBudget budget(config, trainee.layers());
  Random random(1);
  REQUIRE(ids(first_pool(config, budget, trainee, kAlphas, random)) == Ids{0});
  for (const double threshold : {-0.5, 0.5}) {  // accepts all, accepts nothing
    config.acc_threshold = threshold;
    Evolution evolution(config, trainee);
    while (!evolution.finished()) {
      evolution.step();
      CHECK(std::ssize(evolution.state().pool) <= config.pool_size);
    }
    CHECK(evolution.result().target_met);
  }
}

TEST_CASE("an interrupted first pool gives the trainee its weights back") {
  class Interrupted : public SyntheticTrainee {
   public:
    using SyntheticTrainee::SyntheticTrainee;
    double measure_accuracy() override { fail(ErrorCode::interrupted, "stopped"); }
  } trainee(std::vector<SyntheticLayer>(1), 0.8);
  const EvolutionConfig config;
  const LayerBudget budget(config, trainee.layers());
  Random random(1);
  CHECK(error_of([&] { first_pool(config, budget, trainee, kAlphas, random); }) ==
        ErrorCode::interrupted);
  CHECK(trainee.now().sparsities == std::vector<double>{0.0});
}

TEST_CASE("a full pool gives up a dominated solution before a worse one that is not") {
  std::vector<Solution> pool = {solution(0, 0.9, 0.5), solution(1, 0.1, 0.9),
                                solution(2, 0.05, 0.88)};
  CHECK(write_to_pool(pool, solution(3, 0.5, 0.8), 3, -1, kRanking));
  CHECK(ids(pool) == Ids{0, 1, 3});
}

TEST_CASE("without dominated solutions the least fit leaves, be it the new one") {
  std::vector<Solution> pool = {solution(0, 0.9, 0.8), solution(1, 0.5, 0.9),
                                solution(2, 0.2, 0.95)};
  SUBCASE("an old one") {
    CHECK(write_to_pool(pool, solution(3, 0.85, 0.85), 3, -1, kRanking));
    CHECK(ids(pool) == Ids{0, 1, 3});  // the densest lags most
  }
  SUBCASE("the new one") {
    CHECK(!write_to_pool(pool, solution(3, 0.1, 0.951), 3, -1, kRanking));
    CHECK(ids(pool) == Ids{0, 1, 2});
  }
  SUBCASE("there is room") {
    CHECK(write_to_pool(pool, solution(3, 0.1, 0.1), 4, -1, kRanking));
    CHECK(ids(pool) == Ids{0, 1, 2, 3});
  }
}

TEST_CASE("the answer so far never leaves the pool") {
  std::vector<Solution> pool = {solution(0, 0.9, 0.8), solution(1, 0.9, 0.7)};
  pool[0].level = 0.1;
  CHECK(write_to_pool(pool, solution(2, 0.9, 0.75), 2, 0, kRanking));
  CHECK(ids(pool) == Ids{0, 2});
}

TEST_CASE("the best is the most accurate that meets the goal") {
  const std::vector<Solution> pool = {solution(0, 0.5, 0.99), solution(1, 0.9, 0.8),
                                      solution(2, 0.95, 0.85), solution(3, 0.96, 0.85)};
  CHECK(find_best(pool, 1.0 - 0.9) == 3);
  CHECK(find_best(pool, 1.0 - 0.95) == 3);
  CHECK(find_best(pool, 1.0 - 0.99) == -1);
}

TEST_CASE("representatives of each cluster and the answer so far stay") {
  EvolutionConfig config;
  config.clusters = 2;
  config.representatives = 1;
  const std::vector<Solution> pool = {solution(0, 0.10, 0.7), solution(1, 0.12, 0.8),
                                      solution(2, 0.90, 0.6), solution(3, 0.91, 0.5),
                                      solution(4, 0.92, 0.55)};
  CHECK(ids(keep_representatives(pool, config, -1, {1.0, 0.25, 0.01})) == Ids{1, 2});
  CHECK(ids(keep_representatives(pool, config, 3, {1.0, 0.25, 0.01})) == Ids{1, 2, 3});
  config.representatives = 2;
  CHECK(ids(keep_representatives(pool, config, -1, {1.0, 0.25, 0.01})) == Ids{1, 0, 2, 4});
}

TEST_CASE("a summary tells size, accuracies and sparsities of a pool") {
  const PoolSummary summary =
      summarize(std::vector<Solution>{solution(0, 0.25, 0.5), solution(1, 0.75, 0.25)});
  CHECK(summary.size == 2);
  CHECK(summary.best_accuracy == 0.5);
  CHECK(summary.mean_accuracy == 0.375);
  CHECK(summary.min_sparsity == 0.25);
  CHECK(summary.max_sparsity == 0.75);
  CHECK(summary.spread == 0.25);
}

}  // namespace
}  // namespace winnow
