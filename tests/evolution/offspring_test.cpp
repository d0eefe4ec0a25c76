#include "prune/evolution/population/offspring.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>

#include "prune/evolution/evolution.h"
#include "prune/evolution/population/operators.h"
#include "tests/evolution/synthetic_trainee.h"

namespace winnow {
namespace {

SyntheticTrainee three_layers() {
  return SyntheticTrainee({{.blocks = 500}, {.blocks = 2000}, {.blocks = 1000}});
}

EvolutionConfig few_iterations() {
  EvolutionConfig config;
  config.iter_nr = 12;
  config.batch_nr = 20;
  config.pool_size = 3;
  config.target_sparsity = 0.9;
  return config;
}

}  // namespace

TEST_CASE("offspring are the plan, known allocations and mutations, none denser than the plan") {
  SyntheticTrainee trainee = three_layers();
  EvolutionConfig config = few_iterations();
  config.offspring = 8;
  config.known_allocations = true;
  const LayerBudget budget(config, trainee.layers());
  const std::vector<double> plan = {0.5, 0.8, 0.6};
  const std::vector<std::int64_t> layers = {0, 2};
  Random random(5);
  const auto offspring =
      make_offspring(plan, {}, layers, config, budget, trainee.magnitude_curves(), random);
  REQUIRE(offspring.size() == 8);
  const Origin expected[] = {Origin::plan, Origin::uniform,  Origin::erk,      Origin::global,
                             Origin::lamp, Origin::mutation, Origin::mutation, Origin::mutation};
  const double density = budget.planned_density(plan);
  for (std::size_t i = 0; i < offspring.size(); ++i) {
    CHECK(offspring[i].origin == expected[i]);
    CHECK(budget.planned_density(offspring[i].sparsities) <= density);
    CHECK(budget.planned_density(offspring[i].sparsities) > density - 0.01);
  }
  CHECK(offspring[0].sparsities == plan);
  CHECK(offspring[5].sparsities != offspring[6].sparsities);
}

TEST_CASE("fewer offspring leave out mutations, then allocations") {
  SyntheticTrainee trainee = three_layers();
  EvolutionConfig config = few_iterations();
  config.offspring = 3;
  config.known_allocations = true;
  const LayerBudget budget(config, trainee.layers());
  Random random(5);
  const std::vector<double> plan = {0.5, 0.5, 0.5};
  const auto offspring = make_offspring(plan, {}, {}, config, budget, {}, random);
  REQUIRE(offspring.size() == 3);
  CHECK(offspring[2].origin == Origin::erk);
}

TEST_CASE("the least loss wins; what is not a number loses") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto of = [](std::vector<double> losses) {
    std::vector<Offspring> offspring;
    for (const double loss : losses) offspring.push_back({.loss = loss});
    return offspring;
  };
  CHECK(least_loss(of({2, 1, 3})) == 1);
  CHECK(least_loss(of({1, 1})) == 0);
  CHECK(least_loss(of({nan, 5, 4})) == 2);
  CHECK(least_loss(of({3, nan})) == 0);
  CHECK(least_loss(of({nan, nan})) == 0);
}

TEST_CASE("an iteration trains the plan of least loss and says what it compared") {
  // Only the middle layer minds being pruned: plans that spare it have the least loss.
  SyntheticTrainee trainee({{.blocks = 1000, .cost = 0.0, .shock = 0.0},
                            {.blocks = 1000, .tolerance = 0.1, .cost = 0.1, .shock = 0.05},
                            {.blocks = 1000, .cost = 0.0, .shock = 0.0}},
                           /*skill=*/0.9);
  EvolutionConfig config = few_iterations();
  config.offspring = 6;
  config.judge_images = 77;
  Evolution evolution(config, trainee);
  int changed = 0;
  while (!evolution.finished()) {
    const IterationRecord record = evolution.step().front();
    if (record.phase == Phase::tune && !record.forced) {
      CHECK(record.offspring.empty());
      continue;
    }
    REQUIRE(record.offspring.size() == 6);
    CHECK(record.chosen == least_loss(record.offspring));
    CHECK(record.sparsities == record.offspring[record.chosen].sparsities);
    changed += record.chosen != 0 ? 1 : 0;
  }
  CHECK(changed > 2);
  CHECK(trainee.judged.front() == 77);
  const EvolutionResult result = evolution.result();
  CHECK(result.target_met);
  CHECK(result.best.sparsities[1] < result.best.sparsities[0]);
}

TEST_CASE("plans that train before they are judged are judged by what they do not get back") {
  for (const std::int64_t judge_batches : {0, 600}) {
    CAPTURE(judge_batches);
    // Pruning the first layer costs more at once, but that heals; of the second nothing does.
    SyntheticTrainee trainee({{.blocks = 1000, .cost = 0.0, .shock = 0.2},
                              {.blocks = 1000, .tolerance = 0.0, .cost = 0.03, .shock = 0.0}},
                             /*skill=*/0.9);
    EvolutionConfig config = few_iterations();
    config.batch_nr = 600;
    config.offspring = 6;
    config.judge_batches = judge_batches;
    Evolution evolution(config, trainee);
    trainee.firsts.clear();
    double sparser = 0.0;  // the first layer of the plans that were chosen, beside the others'
    while (!evolution.finished()) {
      const IterationRecord record = evolution.step().front();
      const auto plans = static_cast<std::int64_t>(record.offspring.size());
      CHECK(record.judged_batches == plans * judge_batches);
      CHECK(record.batches == 600 * (record.iteration + 1));
      const std::size_t trained = judge_batches > 0 ? record.offspring.size() + 1 : 1;
      CHECK(trainee.firsts == std::vector(trained, record.batches - 600));
      trainee.firsts.clear();
      for (const Offspring& plan : record.offspring) {
        sparser += record.sparsities[0] - plan.sparsities[0];
      }
    }
    CHECK((sparser > 0.0) == (judge_batches > 0));
    CHECK(std::abs(sparser) > 0.1);
    CHECK(evolution.result().target_met);
  }
}

TEST_CASE("with a base allocation an iteration divides its density by it") {
  for (const std::int64_t offspring : {1, 4}) {
    SyntheticTrainee trainee = three_layers();
    EvolutionConfig config = few_iterations();
    config.base_allocation = Allocation::global;
    config.offspring = offspring;
    const LayerBudget budget(config, trainee.layers());
    Evolution evolution(config, trainee);
    int allocated = 0;
    while (!evolution.finished()) {
      const IterationRecord record = evolution.step().front();
      if (record.phase == Phase::tune && !record.forced) continue;
      const std::vector<double> base =
          offspring > 1 ? record.offspring.front().sparsities : record.sparsities;
      const double density = budget.planned_density(base);
      const std::vector<double> wanted =
          allocate(Allocation::global, density, budget, trainee.magnitude_curves());
      for (std::size_t i = 0; i < base.size(); ++i) {
        CHECK(base[i] == doctest::Approx(wanted[i]).epsilon(0.01));
      }
      ++allocated;
    }
    CHECK(allocated > 5);
    CHECK(evolution.result().target_met);
  }
}

TEST_CASE("within an iteration the base allocation follows the weights") {
  SyntheticTrainee trainee = three_layers();
  EvolutionConfig config = few_iterations();
  config.base_allocation = Allocation::global;
  config.mask_interval = config.batch_nr / 4;
  const LayerBudget budget(config, trainee.layers());
  Evolution evolution(config, trainee);
  for (int i = 0; i < 8; ++i) evolution.step();
  std::vector<double> before;  // by the weights as they are when the iteration begins
  trainee.before_training = [&](std::int64_t first) {
    if (first % config.batch_nr == 0) before = trainee.sparsities();
    if (first % config.batch_nr == config.batch_nr / 2) trainee.strength[0] = 4.0;
  };
  const IterationRecord record = evolution.step().front();
  const double density = budget.planned_density(record.sparsities);
  CHECK(density == doctest::Approx(budget.planned_density(before)).epsilon(0.01));
  CHECK(record.sparsities[0] < before[0]);
  const std::vector<double> wanted =
      allocate(Allocation::global, density, budget, trainee.magnitude_curves());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CHECK(record.sparsities[i] == doctest::Approx(wanted[i]).epsilon(0.01));
  }
}

TEST_CASE("a chosen plan that is not the base allocation stays through its iteration") {
  // The middle layer minds being pruned, and the base allocation does not know it.
  SyntheticTrainee trainee({{.blocks = 1000, .cost = 0.0, .shock = 0.0},
                            {.blocks = 1000, .tolerance = 0.1, .cost = 0.1, .shock = 0.05},
                            {.blocks = 1000, .cost = 0.0, .shock = 0.0}},
                           /*skill=*/0.9);
  trainee.zeroes_pruned = true;
  EvolutionConfig config = few_iterations();
  config.base_allocation = Allocation::global;
  config.offspring = 8;
  config.known_allocations = true;
  config.mask_interval = config.batch_nr / 5;
  const LayerBudget budget(config, trainee.layers());
  Evolution evolution(config, trainee);
  int others = 0;
  while (!evolution.finished()) {
    const IterationRecord record = evolution.step().front();
    if (record.offspring.empty()) continue;
    const double density = budget.planned_density(record.offspring.front().sparsities);
    CHECK(budget.planned_density(record.sparsities) == doctest::Approx(density).epsilon(0.01));
    if (record.chosen == 0) continue;
    CHECK(record.sparsities == record.offspring[record.chosen].sparsities);
    ++others;
  }
  CHECK(others > 2);
  CHECK(1.0 - evolution.result().best.sparsity() == doctest::Approx(0.1).epsilon(0.02));
}

TEST_CASE("without a gradient no plan but the solution's own makes a layer denser") {
  SyntheticTrainee trainee = three_layers();
  EvolutionConfig config = few_iterations();
  config.offspring = 8;
  config.known_allocations = true;
  config.alpha = config.alpha_max = 0.0;
  const LayerBudget budget(config, trainee.layers());
  Evolution evolution(config, trainee);
  std::map<std::int64_t, std::vector<double>> sparsities;  // of each solution
  int compared = 0;
  while (!evolution.finished()) {
    for (const Solution& solution : evolution.state().pool) {
      sparsities[solution.id] = solution.sparsities;
    }
    const IterationRecord record = evolution.step().front();
    if (record.offspring.empty() || record.iteration == 0) continue;  // the first pool is made then
    const std::vector<double>& parent = sparsities.at(record.solution);
    const double density = budget.planned_density(record.offspring.front().sparsities);
    for (std::size_t i = 1; i < record.offspring.size(); ++i) {
      const std::vector<double>& plan = record.offspring[i].sparsities;
      for (std::size_t l = 0; l < plan.size(); ++l) CHECK(plan[l] >= parent[l]);
      CHECK(plan != record.offspring.front().sparsities);
      CHECK(budget.planned_density(plan) == doctest::Approx(density).epsilon(0.01));
      ++compared;
    }
  }
  CHECK(compared > 10);
  CHECK(evolution.result().target_met);
}

TEST_CASE("one plan is not compared with itself") {
  SyntheticTrainee trainee = three_layers();
  Evolution evolution(few_iterations(), trainee);
  CHECK(evolution.step().front().offspring.empty());
  CHECK(trainee.judged.empty());
}

TEST_CASE("a run that compares plans goes on after a checkpoint as if it had not stopped") {
  EvolutionConfig config = few_iterations();
  config.offspring = 5;
  config.known_allocations = true;
  SyntheticTrainee whole = three_layers(), parts = three_layers();
  Evolution uninterrupted(config, whole);
  while (!uninterrupted.finished()) uninterrupted.step();

  Evolution first(config, parts);
  for (int i = 0; i < 5; ++i) first.step();
  SyntheticTrainee fresh = three_layers();
  Evolution second(config, fresh, unflatten(flatten(first.state())));
  while (!second.finished()) second.step();
  CHECK(second.result().best.sparsities == uninterrupted.result().best.sparsities);
  CHECK(second.state().random == uninterrupted.state().random);
}

TEST_CASE("with_density meets a density from both sides") {
  SyntheticTrainee trainee = three_layers();
  EvolutionConfig config = few_iterations();
  config.exclude = {"layer0"};
  const LayerBudget budget(config, trainee.layers());
  for (const double density : {0.02, 0.1, 0.5, 0.97}) {
    const std::vector<double> plan = {0.0, 0.7, 0.4};
    const auto changed = with_density(plan, density, budget);
    CHECK(budget.planned_density(changed) <= density);
    CHECK(budget.planned_density(changed) > density - 0.002);
    CHECK(changed[0] == 0.0);
    const std::vector<double> least = {0.0, 0.9, 0.3};
    const auto sparser = with_density(plan, density, budget, least);
    CHECK(budget.planned_density(sparser) <= density);
    for (std::size_t i = 1; i < 3; ++i) CHECK(sparser[i] >= least[i]);
  }
}

}  // namespace winnow
