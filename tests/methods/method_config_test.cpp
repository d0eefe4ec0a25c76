#include "prune/methods/method_config.h"

#include <doctest/doctest.h>

#include "prune/methods/make_method.h"
#include "tests/evolution/synthetic_trainee.h"
#include "tests/throws.h"

namespace winnow {

TEST_CASE("rounds divide the iterations, and what is gone back to lies in the first") {
  EvolutionConfig evolution;
  evolution.iter_nr = 12;
  const auto refusal = [&](const MethodConfig& config) {
    return message_of([&] { check_config(config, evolution); });
  };
  CHECK(refusal({.method = Method::lottery, .rounds = 4, .rewind_to = 3}).empty());
  CHECK(refusal({.method = Method::lottery, .rounds = 5}) ==
        "rounds: found 5, expected at least 2 and a divisor of iter_nr (12)");
  CHECK(refusal({.method = Method::lottery, .rounds = 4, .rewind_to = 4}) ==
        "rewind_to: found 4, expected 0 to 3, the iterations of a round");
  CHECK(refusal({.method = Method::magnitude, .rounds = 5}).empty());
  CHECK(refusal({.method = Method::fssl, .time_strength = 0.5}) ==
        "time_strength: found 0.5, expected 0 with budget parameters, which predicts no time");
  evolution.budget = Budget::macs;
  CHECK(refusal({.method = Method::fssl, .time_strength = 0.5}).empty());
}

TEST_CASE("methods refuse what does not fit") {
  SyntheticTrainee trainee({{.blocks = 10}, {.blocks = 20}});
  const EvolutionConfig evolution;
  for (const Method method : {Method::evolutionary, Method::magnitude}) {
    EvolutionState state;
    state.pool.resize(2);
    CHECK(error_of([&] { make_method({.method = method}, evolution, trainee, state); }) ==
          ErrorCode::bad_file);
    EvolutionConfig wrong;
    wrong.target_sparsity = 2;
    CHECK(error_of([&] { make_method({.method = method}, wrong, trainee); }) == ErrorCode::usage);
    const auto run = make_method({.method = method}, evolution, trainee);
    CHECK(error_of([&] { run->result(); }) == ErrorCode::internal);
  }
}

}  // namespace winnow
