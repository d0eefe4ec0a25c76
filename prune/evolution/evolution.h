// Algorithm 1 of paper 003: pruning by evolution with mask rewinding.
#pragma once

#include <vector>

#include "prune/evolution/budget/layer_budget.h"
#include "prune/evolution/evolution_config.h"
#include "prune/evolution/evolution_result.h"
#include "prune/evolution/evolution_state.h"
#include "prune/evolution/population/iteration_record.h"
#include "prune/evolution/ranks/peers.h"
#include "prune/evolution/trainee/trainee.h"

namespace winnow {

// A state machine over a Trainee, which must outlive it, as its peers. One object belongs to one
// thread.
class Evolution {
 public:
  // Trains nothing. Throws Error{usage} with the key's name if `config` is out of range, names a
  // layer that does not exist, or leaves nothing to prune.
  Evolution(const EvolutionConfig& config, Trainee& trainee, Peers& peers = alone());

  // Goes on where `state` was taken. Throws Error{bad_file} if it has other layers.
  Evolution(const EvolutionConfig& config, Trainee& trainee, EvolutionState state,
            Peers& peers = alone());

  bool finished() const { return state_.iteration >= config_.iter_nr; }

  // Runs a generation: as many iterations as config().generation says, fewer at the end, which
  // choose their solutions from the same pool, are trained side by side, and then judged in order.
  // The first one also makes the pool (line 1). If the trainee throws, as with Error{interrupted},
  // the state is the one before (with the pool, if that is made): the next call repeats it, here or
  // in an object made from state(). Throws Error{internal} when finished.
  std::vector<IterationRecord> step();

  const EvolutionState& state() const { return state_; }
  const EvolutionConfig& config() const { return config_; }

  // After at least one iteration; else throws Error{internal}. After the last one `best` meets the
  // goal: an iteration is forced to if none did. The exception is a network whose training loss is
  // no number each time; `shortfall` says so.
  EvolutionResult result() const;

 private:
  EvolutionConfig config_;
  Trainee& trainee_;
  Peers& peers_;
  LayerBudget budget_;
  EvolutionState state_;
};

}  // namespace winnow
