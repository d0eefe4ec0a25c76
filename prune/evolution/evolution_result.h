// What a run of pruning came to.
#pragma once

#include <string>
#include <vector>

#include "prune/evolution/budget/layer_budget.h"
#include "prune/evolution/evolution_config.h"
#include "prune/evolution/evolution_state.h"

namespace winnow {

struct EvolutionResult {
  Solution best;            // the most accurate that meets the goal; else the best-ranked one
  bool target_met = false;  // best is no denser than the target
  double goal = 0.0;  // the target's sparsity, or what the layers' limits allow if that is less
  double cost = 0.0;  // of best, in what the budget counts (LayerBudget::cost)
  double weight_sparsity = 0.0;  // of best, over the budgeted weights
  std::string shortfall;         // why the target is not met; empty if it is
  std::vector<double> fitness;   // [pool] of its solutions (ranking.h), where the goal is wanted
};

// Throws Error{internal} if `state` has no pool.
EvolutionResult result_of(const EvolutionConfig& config, const LayerBudget& budget,
                          const EvolutionState& state);

}  // namespace winnow
