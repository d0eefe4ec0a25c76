// How much accuracy pruning each layer costs, learned from the iterations (line 16), and what that
// says about pruning it further.
#pragma once

#include <span>
#include <vector>

#include "prune/evolution/layer_budget.h"

namespace winnow {

// One iteration's evidence.
struct PruningEffect {
  std::span<const double> before;  // [layers] sparsities of the chosen solution
  std::span<const double> after;   // [layers] sparsities trained under
  double accuracy_change = 0.0;
};

// Line 16, by normalised least mean squares. With r_l = ln(density before / after) of layer l, the
// loss of accuracy beyond the trend is explained as sum S_l r_l. What that misses by,
//   e = (trend - change) - sum S_l r_l,
// is attributed to the layers in proportion to what was done to them:
//   S_l += weight e r_l / (0.01 + sum r^2),    then    trend += smoothing (change - trend),
// where weight = smoothing * 0.02 / (0.02 + |trend|): while accuracy still moves fast by training
// alone, an iteration says little about its layers. Layers that did not change keep their S. S_l is
// the accuracy lost when the density of layer l falls e times. Does nothing if the change is no
// number.
void update_sensitivity(std::vector<double>& sensitivity, double& trend,
                        const PruningEffect& effect, double smoothing);

// How readily a layer gives up density: exp(-z_l) (cost_l / largest cost)^exponent, where z_l is
// its sensitivity's distance from the mean in deviations (at least 0.02 is taken for a deviation,
// so that noise alone makes no difference), limited to [-2, 2], and cost_l the budget that it still
// keeps: a layer that has little to give is spared. 0 for excluded layers, else above 0.
std::vector<double> willingness(std::span<const double> sensitivity,
                                std::span<const double> sparsities, double exponent,
                                const LayerBudget& budget);

}  // namespace winnow
