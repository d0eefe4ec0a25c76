// The sparsities that pruning heads for, as the weights at hand say them.
#pragma once

#include <span>
#include <vector>

#include "prune/evolution/budget/layer_budget.h"
#include "prune/evolution/evolution_config.h"
#include "prune/methods/method_config.h"

namespace winnow {

// The method's allocation; Algorithm 1's is `base_allocation` or, where there is none, `least_loss`
// in a budget of time and else `global`.
Allocation goal_allocation(const MethodConfig& method, const EvolutionConfig& evolution);

// [layers], at the budget's goal, by goal_allocation().
//
//   curves  [layers]
std::vector<double> goal_sparsities(const MethodConfig& method, const EvolutionConfig& evolution,
                                    const LayerBudget& budget,
                                    std::span<const MagnitudeCurve> curves);

}  // namespace winnow
