// Runs of methods on a synthetic trainee.
#pragma once

#include <memory>
#include <vector>

#include "prune/methods/make_method.h"
#include "tests/evolution/synthetic_trainee.h"

namespace winnow {

inline SyntheticTrainee method_trainee() {
  return SyntheticTrainee({{.blocks = 500}, {.blocks = 4000}, {.blocks = 1000}});
}

inline EvolutionConfig method_evolution(std::int64_t iterations) {
  EvolutionConfig config;
  config.iter_nr = iterations;
  config.batch_nr = 50;
  config.target_sparsity = 0.9;
  config.prune_until = 0.5;
  return config;
}

// A run that is taken up again from its flattened state after every iteration.
inline std::vector<IterationRecord> run_in_pieces(const MethodConfig& method,
                                                  const EvolutionConfig& config,
                                                  SyntheticTrainee& trainee,
                                                  EvolutionResult& result) {
  std::vector<IterationRecord> records;
  EvolutionState state;
  for (std::int64_t i = 0; i < config.iter_nr; ++i) {
    const auto run = make_method(method, config, trainee, state);
    records.push_back(run->step().front());
    state = unflatten(flatten(run->state()));
    result = run->result();
  }
  return records;
}

inline std::vector<IterationRecord> run_whole(const MethodConfig& method,
                                              const EvolutionConfig& config,
                                              SyntheticTrainee& trainee, EvolutionResult& result) {
  std::vector<IterationRecord> records;
  const auto run = make_method(method, config, trainee);
  while (!run->finished()) records.push_back(run->step().front());
  result = run->result();
  return records;
}

}  // namespace winnow
