// Alpha from the weights' migration into and out of the mask (line 15).
#pragma once

#include <span>

#include "prune/evolution/evolution_config.h"
#include "prune/evolution/trainee/trainee.h"

namespace winnow {

// Sum over `migrations`; kept and kept_weights too.
Migration total(std::span<const Migration> migrations);

// Share of kept blocks that changed places in an iteration: sum min(entered, left) over all
// recomputations, of so many layers each, over the mean of what they keep. Blocks that left only
// because sparsity rose, or entered only because it fell, do not count. 0 if nothing is kept.
double migration_rate(std::span<const Migration> migrations, std::size_t layers);

// Line 15:  alpha (1 + alpha_step (goal - rate) / max(goal, rate)), within [alpha_min, alpha_max].
// Many migrants mean that gradients shake the mask: alpha falls and magnitude counts for more. None
// mean that the mask is stuck: alpha rises until gradients bring pruned weights back. What alpha a
// rate needs falls by orders of magnitude as weights settle, so that steps are shares of it; an
// alpha of 0 stays 0.
double next_alpha(double alpha, double rate, const EvolutionConfig& config);

}  // namespace winnow
