// A way to prune: a state machine over a Trainee, as a run sees it.
#pragma once

#include <vector>

#include "prune/evolution/evolution_result.h"
#include "prune/evolution/evolution_state.h"
#include "prune/evolution/population/iteration_record.h"

namespace winnow {

class PruningMethod {
 public:
  virtual ~PruningMethod() = default;

  virtual bool finished() const = 0;

  // Runs an iteration of batch_nr batches, or as many as are trained side by side. If the trainee
  // throws, as with Error{interrupted}, the state is the one before: the next call repeats them,
  // here or in an object made from state(). Throws Error{internal} when finished.
  virtual std::vector<IterationRecord> step() = 0;

  // All that a checkpoint needs. Methods with one network have it, its answer so far and what they
  // go back to as solutions of a pool.
  virtual const EvolutionState& state() const = 0;

  // After at least one iteration; else throws Error{internal}.
  virtual EvolutionResult result() const = 0;
};

}  // namespace winnow
