// All that the evolution knows between two iterations, and its form as plain numbers for a file.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "prune/evolution/population/sensitivity.h"
#include "prune/evolution/population/solution.h"
#include "runtime/base/random.h"

namespace winnow {

struct EvolutionState {
  std::int64_t iteration = 0;  // the next one
  std::int64_t batches = 0;    // trained so far, rewound ones included
  std::int64_t next_id = 0;
  std::int64_t best_id = -1;          // the answer so far: meets the target; -1: none does
  std::int64_t without_progress = 0;  // iterations
  std::int64_t collapsed = 0;         // 1: the last network was forced, collapsed and was refused
  Random::State random{};
  std::vector<double> alphas;    // eq 2's, of the layers
  double initial_density = 1.0;  // mean of the first pool
  SensitivityEstimate learned;   // of the layers
  std::vector<Solution> pool;    // in the order of birth; empty before the first iteration
};

// The same as two arrays of numbers and the snapshots, each once. Doubles keep their bits.
// docs/pruning.md lists the order of the numbers.
struct FlatState {
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  std::vector<std::shared_ptr<const Snapshot>> snapshots;
};

FlatState flatten(const EvolutionState& state);

// The inverse. Throws Error{bad_file} if the arrays do not fit together.
EvolutionState unflatten(const FlatState& flat);

}  // namespace winnow
