#include "prune/methods/fssl.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/methods/run_method.h"
#include "tests/throws.h"

namespace winnow {
namespace {

MethodConfig fssl(double strength, double between = 0.5) {
  return {.method = Method::fssl, .group_strength = strength, .between_channels = between};
}

}  // namespace

TEST_CASE("fssl penalises and cuts between channels, then within them, then trains") {
  SyntheticTrainee trainee = method_trainee();
  EvolutionResult result;
  const auto records = run_whole(fssl(1e-6), method_evolution(12), trainee, result);
  REQUIRE(trainee.penalties.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) {
    CAPTURE(i);
    const GroupStage expected = i < 3   ? GroupStage::between_channels
                                : i < 6 ? GroupStage::within_channels
                                        : GroupStage::none;
    CHECK(trainee.penalties[i].stage == expected);
    CHECK(trainee.penalties[i].strengths == std::vector<double>(3, 1e-6));
    CHECK(records[i].phase == (i < 6 ? Phase::rise : Phase::tune));
  }
  for (int i = 0; i <= 3; ++i) CHECK(records[static_cast<std::size_t>(i)].sparsity == 0.0);
  for (int i = 4; i <= 6; ++i) {  // these layers have kernel shapes, but no filters
    CAPTURE(i);
    const double density = 1 - records[static_cast<std::size_t>(i)].sparsity;
    CHECK(density <= std::pow(0.1, i / 6.0));
    CHECK(density == doctest::Approx(std::pow(0.1, i / 6.0)).epsilon(0.02));
  }
  CHECK(records[11].sparsities == records[6].sparsities);
  CHECK(result.target_met);
}

TEST_CASE("groups die under a strong penalty, which ends at the goal and at a layer's limit") {
  SyntheticTrainee trainee = method_trainee();
  EvolutionConfig config = method_evolution(20);
  config.layer_limits = {{"layer0", 0.0, 0.5}};
  config.exclude = {"layer2"};
  EvolutionResult result;
  const auto records = run_whole(fssl(4e-5), config, trainee, result);
  CHECK(std::is_sorted(records.begin(), records.end(),
                       [](const auto& a, const auto& b) { return a.sparsity < b.sparsity; }));
  CHECK(records[1].sparsity > 0.3);  // 50 batches of 4e-5 take 2e-3
  bool is_limited = false, is_done = false;
  for (std::size_t i = 0; i < 10; ++i) {
    CAPTURE(i);
    CHECK(trainee.penalties[i].strengths[2] == 0.0);
    CHECK((trainee.penalties[i].strengths[0] == 0.0) == (records[i].sparsities[0] >= 0.5));
    CHECK((trainee.penalties[i].stage == GroupStage::none) == (records[i].sparsity >= 0.9));
    is_limited = is_limited || trainee.penalties[i].strengths[0] == 0.0;
    is_done = is_done || trainee.penalties[i].stage == GroupStage::none;
  }
  CHECK(is_limited);
  CHECK(is_done);
  CHECK(result.target_met);
}

TEST_CASE("the predicted time shares out its strength by what weights save") {
  SyntheticTrainee trainee({{.blocks = 500, .macs_per_weight = 4.0}, {.blocks = 500}});
  EvolutionConfig config = method_evolution(8);
  config.budget = Budget::macs;
  MethodConfig method = fssl(1e-6);
  method.time_strength = 1e-6;
  EvolutionResult result;
  run_whole(method, config, trainee, result);
  const std::vector<double>& first = trainee.penalties.front().strengths;
  CHECK(first[0] == doctest::Approx(1e-6 * (1 + 4 / 2.5)).epsilon(0.01));
  CHECK(first[1] == doctest::Approx(1e-6 * (1 + 1 / 2.5)).epsilon(0.01));
}

TEST_CASE("without a strength fssl cuts by norms alone") {
  SyntheticTrainee trainee = method_trainee();
  EvolutionResult result;
  const auto records = run_whole(fssl(0.0, 0.0), method_evolution(8), trainee, result);
  CHECK(records[0].sparsity == 0.0);
  CHECK(records[2].sparsity == doctest::Approx(1 - std::sqrt(0.1)).epsilon(0.01));
  for (std::size_t i = 4; i < 8; ++i) CHECK(records[i].sparsity >= 0.9);
}

TEST_CASE("the last iteration has the target even if sparsity rises to the end") {
  SyntheticTrainee trainee = method_trainee();
  EvolutionConfig config = method_evolution(5);
  config.prune_until = config.freeze_from = 1.0;
  EvolutionResult result;
  const auto records = run_whole(fssl(1e-6), config, trainee, result);
  CHECK(records.back().sparsity >= 0.9);
  CHECK(result.target_met);
}

TEST_CASE("fssl goes on from its state as if it had not stopped") {
  SyntheticTrainee whole = method_trainee(), pieces = method_trainee();
  EvolutionResult of_whole, of_pieces;
  const auto one = run_whole(fssl(3e-6, 0.3), method_evolution(14), whole, of_whole);
  const auto two = run_in_pieces(fssl(3e-6, 0.3), method_evolution(14), pieces, of_pieces);
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(one[i].accuracy == two[i].accuracy);
    CHECK(one[i].sparsities == two[i].sparsities);
  }
  CHECK(of_whole.best.id == of_pieces.best.id);
}

TEST_CASE("a loss that is no number leaves fssl's network as it was") {
  SyntheticTrainee trainee = method_trainee();
  const auto run = make_method(fssl(1e-5), method_evolution(4), trainee);
  run->step();
  const std::int64_t newest = run->state().pool.back().id;
  trainee.diverges = true;
  CHECK_FALSE(run->step().front().accepted);
  CHECK(run->state().pool.back().id == newest);
}

}  // namespace winnow
