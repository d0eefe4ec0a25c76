// The sparsities that lose least by magnitude within a budget whose costs have flat parts.
#pragma once

#include <span>
#include <vector>

#include "prune/evolution/budget/layer_budget.h"
#include "prune/evolution/trainee/magnitude_curve.h"

namespace winnow {

// Sparsities [layers], within the ranges, that cost no more than budget.spendable(density) or as
// little as ranges allow. What a layer loses is summed_loss() of layer_budget.h. Of each layer only
// the ways that lie on the lower convex hull of (cost, loss) are taken: a layer so stays dense or
// jumps over a flat part. From the cheapest ways on, the step that wins back most per cost is taken
// until the budget is spent: the fractional knapsack of convex functions. The step that no longer
// fits is taken as far as it does, so the loss exceeds the least one by no more than that of one
// step.
//
//   curves  [layers]
std::vector<double> least_loss_within(double density, const LayerBudget& budget,
                                      std::span<const MagnitudeCurve> curves);

// One way to count and prune the network's layers, among several; all have the same layers,
// excluded ones, dense times and target.
struct TimeOption {
  const LayerBudget* budget = nullptr;
  std::span<const MagnitudeCurve> curves;  // [layers]
};

struct LayerWay {
  double sparsity = 0.0;
  double cost = 0.0;
  double loss = 0.0;
  std::size_t option = 0;  // index of the one whose sparsity it is
};

// The same, [layers], where each layer may take any of the options: its hull is that of all its
// ways together. A layer that loses nothing has the option of its next way on the hull. An excluded
// layer costs nothing here and has the first option.
std::vector<LayerWay> least_loss_ways(double density, std::span<const TimeOption> options);

}  // namespace winnow
