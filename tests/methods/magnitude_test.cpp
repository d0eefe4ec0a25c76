#include "prune/methods/magnitude.h"

#include <doctest/doctest.h>

#include <cmath>

#include "prune/evolution/evolution.h"
#include "tests/methods/run_method.h"
#include "tests/throws.h"

namespace winnow {
namespace {

const MethodConfig kUniform{.method = Method::magnitude, .allocation = Allocation::uniform};

}  // namespace

TEST_CASE("gradual magnitude pruning follows the cubic schedule, then only trains") {
  SyntheticTrainee trainee = method_trainee();
  EvolutionResult result;
  const auto records = run_whole(kUniform, method_evolution(8), trainee, result);
  REQUIRE(records.size() == 8);
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    const double left = std::pow(1.0 - static_cast<double>(i + 1) / 4.0, 3);
    CHECK(records[i].sparsity == doctest::Approx(0.9 - 0.9 * left).epsilon(0.002));
    CHECK(records[i].phase == Phase::rise);
  }
  for (std::size_t i = 4; i < 8; ++i) {
    CHECK(records[i].sparsities == records[3].sparsities);
    CHECK(records[i].phase == Phase::tune);
  }
  CHECK(trainee.recomputations == 5);  // once for the start
  CHECK(trainee.firsts == std::vector<std::int64_t>{0, 50, 100, 150, 200, 250, 300, 350});
  CHECK(result.target_met);
  CHECK(result.best.accuracy == doctest::Approx(records.back().accuracy));
}

TEST_CASE("with mask_interval masks follow the cubic schedule within iterations, then settle") {
  SyntheticTrainee trainee = method_trainee();
  EvolutionConfig config = method_evolution(8);  // of 50 batches; sparsity rises in the first 4
  config.mask_interval = 20;
  config.freeze_from = 0.75;
  EvolutionResult result;
  const auto records = run_whole(kUniform, config, trainee, result);
  for (std::size_t i = 0; i < 8; ++i) {
    CAPTURE(i);
    const double left = i < 4 ? std::pow(1.0 - static_cast<double>(i + 1) / 4.0, 3) : 0.0;
    CHECK(records[i].sparsity == doctest::Approx(0.9 - 0.9 * left).epsilon(0.002));
    CHECK(records[i].phase == (i < 4 ? Phase::rise : i < 6 ? Phase::settle : Phase::tune));
  }
  CHECK(trainee.recomputations == 1 + 6 * 3);
  CHECK(std::vector<std::int64_t>(trainee.firsts.begin(), trainee.firsts.begin() + 4) ==
        std::vector<std::int64_t>{0, 20, 40, 50});
  CHECK(result.target_met);
}

TEST_CASE("an evolution of one line of descent keeps magnitude's pace, mask by mask") {
  EvolutionConfig config = method_evolution(8);  // of 50 batches
  config.mask_interval = 10;
  config.freeze_from = 0.75;
  config.pace = Pace::cubic;
  config.base_allocation = Allocation::uniform;
  config.layer_fraction = 0.3;  // one of three: the base allocation divides among all
  config.initial_sparsity_max = 0.0;
  config.selection_pressure = 1.0;
  config.acc_threshold = -1.0;
  config.alpha = config.alpha_max = 0.0;
  const auto kept_of = [&](const auto& run) {  // before each call of training
    SyntheticTrainee trainee = method_trainee();
    const LayerBudget budget(config, trainee.layers());
    std::vector<double> kept;
    trainee.before_training = [&](std::int64_t) {
      kept.push_back(budget.planned_density(trainee.sparsities()));
    };
    run(trainee);
    return kept;
  };
  const auto by_magnitude = kept_of([&](SyntheticTrainee& trainee) {
    EvolutionResult result;
    run_whole(kUniform, config, trainee, result);
  });
  const auto by_evolution = kept_of([&](SyntheticTrainee& trainee) {
    Evolution evolution(config, trainee);
    while (!evolution.finished()) evolution.step();
  });
  const std::size_t until_freeze = 6 * 5;
  REQUIRE(by_evolution.size() >= until_freeze);
  REQUIRE(by_magnitude.size() >= until_freeze);
  for (std::size_t i = 0; i < until_freeze; ++i) {
    CAPTURE(i);
    // Within an iteration the evolution's way is straight.
    const bool is_last = i % 5 == 4;
    CHECK(std::abs(by_evolution[i] - by_magnitude[i]) <= (is_last ? 0.002 : 0.05));
  }
}

TEST_CASE("every allocation meets the target by gradual magnitude pruning") {
  for (const Allocation allocation :
       {Allocation::uniform, Allocation::erk, Allocation::global, Allocation::lamp}) {
    SyntheticTrainee trainee = method_trainee();
    EvolutionResult result;
    run_whole({.method = Method::magnitude, .allocation = allocation}, method_evolution(6), trainee,
              result);
    CHECK(result.target_met);
    CHECK(result.best.sparsity() < 0.905);
  }
}

TEST_CASE("gradual magnitude pruning meets a time, by steps, with layers that jump or stay dense") {
  for (const Allocation allocation : {Allocation::uniform, Allocation::erk, Allocation::global,
                                      Allocation::lamp, Allocation::least_loss}) {
    SyntheticTrainee trainee = method_trainee();
    const TimeModel time = {
        .device = "cpu",
        .precision = "f32",
        .dense_ms = 6.5,
        .constant_ms = 0.5,
        .layers = {{"layer0", 500, 1.0, {{0.1, 1.0}}},
                   {"layer1", 4000, 3.0, {{0.05, 0.2}, {0.4, 3.0}}},
                   {"layer2", 1000, 2.0, {{0.1, 0.2}, {0.3, 1.0}, {0.5, 2.0}}}}};
    EvolutionConfig config = method_evolution(12);
    config.budget = Budget::time;
    config.target_speedup = 2.0;
    config.time = std::make_shared<const TimeModel>(time);
    EvolutionResult result;
    const auto records =
        run_whole({.method = Method::magnitude, .allocation = allocation}, config, trainee, result);
    CHECK(result.target_met);
    CHECK(result.cost <= 3.25);
    CHECK(result.cost >= 3.1);
    CHECK(result.best.sparsities[0] < 0.01);  // no mask makes it faster
    double before = 0.0;
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK(records[i].sparsities[1] >= before);
      before = records[i].sparsities[1];
    }
    CHECK(records[1].sparsities[1] < 0.99 * records[5].sparsities[1]);
  }
}

TEST_CASE("gradual magnitude pruning goes on from its state as if it had not stopped") {
  const MethodConfig global{.method = Method::magnitude};
  SyntheticTrainee whole = method_trainee(), pieces = method_trainee();
  EvolutionResult of_whole, of_pieces;
  const auto one = run_whole(global, method_evolution(10), whole, of_whole);
  const auto two = run_in_pieces(global, method_evolution(10), pieces, of_pieces);
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(one[i].accuracy == two[i].accuracy);
    CHECK(one[i].sparsities == two[i].sparsities);
  }
  CHECK(of_whole.best.id == of_pieces.best.id);
}

TEST_CASE("the answer is the most accurate network of the target's sparsity, not the last one") {
  SyntheticTrainee trainee = method_trainee();
  trainee.noise = 0.3;
  EvolutionResult result;
  const auto records = run_whole(kUniform, method_evolution(20), trainee, result);
  double best = 0.0;
  for (const IterationRecord& record : records) {
    if (record.sparsity >= 0.9) best = std::max(best, record.accuracy);
  }
  CHECK(result.best.accuracy == best);
}

TEST_CASE("a loss that is no number leaves the network as it was") {
  SyntheticTrainee trainee = method_trainee();
  const auto run = make_method(kUniform, method_evolution(4), trainee);
  run->step();
  const std::int64_t newest = run->state().pool.back().id;
  trainee.diverges = true;
  const IterationRecord record = run->step().front();
  CHECK_FALSE(record.accepted);
  CHECK(record.action == Action::rewound);
  CHECK(run->state().pool.back().id == newest);
}

TEST_CASE("an interruption leaves the state of before the iteration") {
  SyntheticTrainee trainee = method_trainee();
  const auto run = make_method(kUniform, method_evolution(4), trainee);
  run->step();
  trainee.before_training = [](std::int64_t) { fail(ErrorCode::interrupted, "stop"); };
  CHECK(error_of([&] { run->step(); }) == ErrorCode::interrupted);
  CHECK(run->state().iteration == 1);
  trainee.before_training = {};
  CHECK(run->step().front().iteration == 1);
}

}  // namespace winnow
