// The sparsities that lose least by magnitude within a budget whose costs have flat parts.
#pragma once

#include <span>
#include <vector>

#include "prune/evolution/layer_budget.h"
#include "prune/evolution/magnitude_curve.h"

namespace winnow {

// Sparsities [layers], within the ranges, that cost no more than budget.spendable(density) or as
// little as ranges allow. What a layer loses is the sum of the squared magnitudes of its pruned
// blocks. Of each layer only the ways that lie on the lower convex hull of (cost, loss) are taken:
// a layer so stays dense or jumps over a flat part. From the cheapest ways on, the step that wins
// back most per cost is taken until the budget is spent: the fractional knapsack of convex
// functions. The step that no longer fits is taken as far as it does, so the loss exceeds the least
// one by no more than that of one step.
//
//   curves  [layers]
std::vector<double> least_loss_within(double density, const LayerBudget& budget,
                                      std::span<const MagnitudeCurve> curves);

}  // namespace winnow
