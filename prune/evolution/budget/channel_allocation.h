// The channels that lose least by magnitude within a time.
#pragma once

#include <span>
#include <vector>

#include "prune/evolution/budget/layer_budget.h"
#include "prune/evolution/trainee/magnitude_curve.h"

namespace winnow {

// Sparsities [units], within the ranges, of a network that is predicted to take no more than
// `density` of the dense network's milliseconds, or as little as ranges allow.
//
// What a unit loses is summed_loss() of layer_budget.h. Costs of units meet in the layers that
// compute the one's channels and read the other's, so no knapsack of single units is exact: from
// the whole network on, the unit and the number of its channels go that lose least per millisecond
// saved as the network then is. Any number of a unit's channels is weighed at once, so that flat
// parts are jumped over; the last step goes no farther than the time asks.
//
//   curves  [units]
std::vector<double> least_loss_of_channels(double density, const LayerBudget& budget,
                                           std::span<const MagnitudeCurve> curves);

}  // namespace winnow
