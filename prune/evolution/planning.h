// Plans of sparsities by what the run has learned. Internal to the evolution.
#pragma once

#include <vector>

#include "prune/evolution/budget/layer_budget.h"
#include "prune/evolution/evolution_config.h"
#include "prune/evolution/evolution_state.h"

namespace winnow {

struct Planner {
  const EvolutionConfig& config;
  const LayerBudget& budget;
  const EvolutionState& state;

  // willingness() of all layers at these sparsities.
  std::vector<double> willing(const std::vector<double>& sparsities) const;

  // `plan` at the given density or below. All layers share in it: this may be a long way.
  std::vector<double> deepened(const std::vector<double>& plan, double density) const;
};

}  // namespace winnow
