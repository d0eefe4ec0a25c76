// A member of the population: a subnetwork that was measured, and what is to be tried with it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "prune/evolution/trainee/trainee.h"

namespace winnow {

struct Solution {
  std::int64_t id = 0;       // ids rise in the order of birth
  std::int64_t parent = -1;  // -1: of the first pool
  std::int64_t trained = 0;  // batches behind its weights, rewound ones not counted

  // Measured together: sparsities asked for per layer, what the masks then kept, the accuracy.
  std::vector<double> sparsities;
  std::vector<std::int64_t> kept_weights;
  double density = 1.0;  // share of the budget that is kept
  double accuracy = 0.0;

  double level = 0.0;          // accuracy it is held to: smoothed along its lineage
  std::int64_t continued = 0;  // accepted children at least as sparse
  std::vector<double> plan;    // sparsities for its next iteration
  std::shared_ptr<const Snapshot> snapshot;

  double sparsity() const { return 1.0 - density; }
};

}  // namespace winnow
