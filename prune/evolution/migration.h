// Alpha from the weights' migration into and out of the mask (line 15).
#pragma once

#include <span>

#include "prune/evolution/evolution_config.h"
#include "prune/evolution/trainee/trainee.h"

namespace winnow {

// Sum over `migrations`; kept and kept_weights too.
Migration total(std::span<const Migration> migrations);

// Share of kept blocks that changed places: sum min(entered, left) / sum kept. Blocks that left
// only because sparsity rose, or entered only because it fell, do not count. 0 if nothing is kept.
double migration_rate(std::span<const Migration> migrations);

// Line 15:  alpha + alpha_step (goal - rate) / max(goal, rate), within [alpha_min, alpha_max].
// Many migrants mean that gradients shake the mask: alpha falls and magnitude counts for more. None
// mean that the mask is stuck: alpha rises until gradients bring pruned weights back.
double next_alpha(double alpha, double rate, const EvolutionConfig& config);

}  // namespace winnow
