#include "prune/evolution/ranks/generation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "prune/evolution/evolution.h"
#include "tests/evolution/synthetic_trainee.h"
#include "tests/evolution/thread_peers.h"
#include "tests/throws.h"

namespace winnow {
namespace {

SyntheticTrainee trainee_of_ranks() {
  SyntheticTrainee trainee({{.blocks = 900, .tolerance = 0.5},
                            {.blocks = 4000, .tolerance = 0.95, .cost = 0.02},
                            {.blocks = 2000, .tolerance = 0.8}},
                           0.3);
  trainee.noise = 0.01;
  return trainee;
}

EvolutionConfig config_of_ranks() {
  EvolutionConfig config;
  config.iter_nr = 22;
  config.batch_nr = 20;
  config.pool_size = 5;
  config.generation = 4;
  config.target_sparsity = 0.9;
  config.offspring = 3;
  config.judge_batches = 2;
  config.seed = 11;
  return config;
}

struct Run {
  std::vector<std::vector<IterationRecord>> generations;
  FlatState state;
  int calls = 0;  // of train_batches
};

Run run_with(Peers& peers, EvolutionState state = {}, std::size_t most = 1000) {
  SyntheticTrainee trainee = trainee_of_ranks();
  Evolution evolution = state.pool.empty()
                            ? Evolution(config_of_ranks(), trainee, peers)
                            : Evolution(config_of_ranks(), trainee, std::move(state), peers);
  Run run;
  while (!evolution.finished() && run.generations.size() < most) {
    run.generations.push_back(evolution.step());
  }
  run.state = flatten(evolution.state());
  run.calls = trainee.calls;
  return run;
}

std::vector<double> accuracies(const Run& run) {
  std::vector<double> all;
  for (const auto& generation : run.generations) {
    for (const IterationRecord& record : generation) all.push_back(record.accuracy);
  }
  return all;
}

Trial some_trial() {
  Trial trial;
  trial.offspring = {{.sparsities = {0.5, 0.25}, .loss = 1.5}, {.sparsities = {0.0, 0.9}}};
  trial.chosen = 1;
  trial.sparsities = {0.0, 0.9};
  trial.loss = 0.75;
  trial.accuracy = 0.5;
  trial.is_finite = false;
  trial.kept_weights = {10, 1};
  trial.migrations = {{1, 2, 3, 4}, {5, 6, 7, 8}};
  return trial;
}

}  // namespace

TEST_CASE("the iterations of a generation choose different solutions of one pool") {
  const Run run = run_with(alone());
  REQUIRE(run.generations.size() == 6);  // 4 4 4 4 4 2
  std::int64_t iteration = 0;
  int plans = 0;
  for (const auto& generation : run.generations) {
    std::set<std::int64_t> parents;
    for (const IterationRecord& record : generation) {
      CHECK(record.iteration == iteration++);
      parents.insert(record.solution);
      plans += static_cast<int>(record.offspring.size());
      CHECK(record.judged_batches == 2 * static_cast<std::int64_t>(record.offspring.size()));
    }
    CHECK(parents.size() == generation.size());
  }
  CHECK(iteration == 22);
  CHECK(plans > 22);
  CHECK(run.calls == 22 + plans);  // each plan trains before it is judged
}

TEST_CASE("any number of ranks computes the same") {
  const Run one = run_with(alone());
  for (const std::int64_t size : {2, 3, 4, 6}) {
    CAPTURE(size);
    std::vector<Run> runs(static_cast<std::size_t>(size));
    run_ranks(size, [&](Peers& peers) {
      runs[static_cast<std::size_t>(peers.rank())] = run_with(peers);
    });
    int calls = 0;
    for (const Run& run : runs) {
      CHECK(accuracies(run) == accuracies(one));
      CHECK(run.state.integers == one.state.integers);
      CHECK(run.state.numbers == one.state.numbers);
      calls += run.calls;
    }
    CHECK(calls == one.calls);
    CHECK(runs[0].calls < one.calls);
  }
}

TEST_CASE("a run goes on with another number of ranks") {
  const Run whole = run_with(alone());
  std::vector<EvolutionState> states(3);
  run_ranks(3, [&](Peers& peers) {
    states[static_cast<std::size_t>(peers.rank())] = unflatten(run_with(peers, {}, 2).state);
  });
  const Run rest = run_with(alone(), states[0]);
  std::vector<double> expected = accuracies(whole);
  expected.erase(expected.begin(), expected.begin() + 8);
  CHECK(accuracies(rest) == expected);
  CHECK(rest.state.numbers == whole.state.numbers);
}

TEST_CASE("ranks that do not agree are named") {
  std::vector<ErrorCode> codes(3, ErrorCode::usage);
  std::vector<std::string> messages(3);
  run_ranks(3, [&](Peers& peers) {
    SyntheticTrainee trainee = trainee_of_ranks();
    if (peers.rank() == 2) trainee.noise = 0.02;  // as a GPU of another kind has
    Evolution evolution(config_of_ranks(), trainee, peers);
    EvolutionState other = evolution.state();
    if (peers.rank() == 2) other.alphas[0] += 0.001;
    const auto rank = static_cast<std::size_t>(peers.rank());
    try {
      require_agreement(other, trainee, peers);
    } catch (const Error& error) {
      codes[rank] = error.code();
      messages[rank] = error.what();
    }
  });
  for (std::size_t rank = 0; rank < 3; ++rank) {
    CHECK(codes[rank] == ErrorCode::internal);
    CHECK(messages[rank].find("rank 2 has another state") != std::string::npos);
  }
}

TEST_CASE("a trial goes to another rank and back") {
  const Trial trial = some_trial();
  const Trial again = trial_from(to_bytes(trial));
  CHECK(again.offspring.size() == 2);
  CHECK(again.offspring[0].sparsities == trial.offspring[0].sparsities);
  CHECK(again.offspring[0].loss == 1.5);
  CHECK(again.chosen == 1);
  CHECK_FALSE(again.is_finite);
  CHECK(again.sparsities == trial.sparsities);
  CHECK(again.kept_weights == trial.kept_weights);
  CHECK(again.migrations[1].kept_weights == 8);
  CHECK(again.accuracy == 0.5);
  const std::string bytes = to_bytes(trial);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK(error_of([&] { trial_from(bytes.substr(0, size)); }) == ErrorCode::internal);
  }
  CHECK(error_of([&] { trial_from(bytes + "x"); }) == ErrorCode::internal);
}

}  // namespace winnow
