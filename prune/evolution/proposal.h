// What an iteration is about to try (lines 3 and 4). Internal to the evolution.
#pragma once

#include <cstdint>
#include <span>

#include "prune/evolution/budget/layer_budget.h"
#include "prune/evolution/evolution_config.h"
#include "prune/evolution/evolution_state.h"
#include "prune/evolution/population/iteration_record.h"
#include "prune/evolution/population/ranking.h"

namespace winnow {

struct Proposal {
  Solution parent;           // as it is in the pool
  bool masks_fixed = false;  // phase tune: weights alone are trained
  std::int64_t first_batch = 0;
  IterationRecord record;  // what is known before training
};

// How solutions rank in an iteration.
Ranking ranking_in(std::int64_t iteration, const EvolutionConfig& config, const LayerBudget& budget,
                   const EvolutionState& state);

// For `iteration`, state.iteration or one of those that are trained beside it. Solutions of these
// ids are left to the others, unless all are. Changes state.random alone.
Proposal propose(std::int64_t iteration, std::span<const std::int64_t> taken,
                 const EvolutionConfig& config, const LayerBudget& budget, EvolutionState& state);

}  // namespace winnow
