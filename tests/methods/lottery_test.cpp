#include "prune/methods/lottery.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/methods/run_method.h"

namespace winnow {
namespace {

const MethodConfig kLottery{.method = Method::lottery, .rounds = 4, .rewind_to = 2};

}  // namespace

TEST_CASE("each round of lottery is sparser by the same factor, and starts from early weights") {
  SyntheticTrainee trainee = method_trainee();
  EvolutionResult result;
  const auto records = run_whole(kLottery, method_evolution(12), trainee, result);
  REQUIRE(records.size() == 12);
  for (std::size_t i = 0; i < records.size(); ++i) {
    CAPTURE(i);
    const double round = static_cast<double>(i / 3);
    CHECK(1 - records[i].sparsity == doctest::Approx(std::pow(0.1, round / 3)).epsilon(0.01));
  }
  CHECK(trainee.rewinds == 3);
  CHECK(result.target_met);
}

TEST_CASE("lottery keeps the weights that it goes back to, and goes on from its state") {
  SyntheticTrainee whole = method_trainee(), pieces = method_trainee();
  EvolutionResult of_whole, of_pieces;
  const auto one = run_whole(kLottery, method_evolution(12), whole, of_whole);
  const auto two = run_in_pieces(kLottery, method_evolution(12), pieces, of_pieces);
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i].accuracy == two[i].accuracy);

  SyntheticTrainee trainee = method_trainee();
  const auto run = make_method(kLottery, method_evolution(12), trainee);
  for (int i = 0; i < 7; ++i) run->step();
  REQUIRE(run->state().pool.size() == 2);
  CHECK(run->state().pool.front().id == 2);
  CHECK(run->state().pool.front().trained == 100);
}

TEST_CASE("lottery may go back to the very start") {
  SyntheticTrainee trainee = method_trainee();
  EvolutionResult result;
  run_whole({.method = Method::lottery, .rounds = 2, .rewind_to = 0}, method_evolution(4), trainee,
            result);
  CHECK(trainee.rewinds == 1);
  CHECK(result.target_met);
}

}  // namespace winnow
