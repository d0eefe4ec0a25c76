// The pool of solutions: how it starts (line 1), who may enter (line 9), how it is kept diverse
// (lines 17 and 18).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prune/evolution/budget/layer_budget.h"
#include "prune/evolution/evolution_config.h"
#include "prune/evolution/population/iteration_record.h"
#include "prune/evolution/population/ranking.h"

namespace winnow {

// Line 1. Solutions with random sparsities, all from the weights that the trainee has now, each
// measured under its masks. With `known_first_pool` the first ones divide theirs by the known
// allocations (allocation.h), one each. Where masks are given at the start, a random share of what
// they keep is pruned. Equal ones are one: where none is pruned at the start, there is one
// solution, and its children make the pool. If the trainee throws, it gets these weights back.
std::vector<Solution> first_pool(const EvolutionConfig& config, const LayerBudget& budget,
                                 Trainee& trainee, std::span<const double> alphas, Random& random);

// Fills in what recompute_masks counted.
void set_kept(Solution& solution, std::vector<std::int64_t> kept_weights,
              const LayerBudget& budget);

// The most accurate solution that meets the goal; of equals the sparser, then the older. -1: none.
std::int64_t find_best(std::span<const Solution> pool, double goal_density);

// Line 9. Puts `child` into the pool. A full pool gives up its worst: a dominated solution before
// one that is not, then the worse by worse(), then the oldest; never solution `best_id`. Returns
// whether child stays; it does not if it is itself the worst.
bool write_to_pool(std::vector<Solution>& pool, Solution child, std::int64_t capacity,
                   std::int64_t best_id, const Ranking& ranking);

// Line 18. Clusters the plans, keeps the fittest of each cluster (and solution `best_id`) and
// drops the others. In the order of fitness.
std::vector<Solution> keep_representatives(std::span<const Solution> pool,
                                           const EvolutionConfig& config, std::int64_t best_id,
                                           const Ranking& ranking);

PoolSummary summarize(std::span<const Solution> pool);

}  // namespace winnow
