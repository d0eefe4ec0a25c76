// How much accuracy pruning each layer costs, learned from the iterations (line 16), and what that
// says about pruning it further.
#pragma once

#include <span>
#include <vector>

#include "prune/evolution/budget/layer_budget.h"

namespace winnow {

// What the iterations have taught.
struct SensitivityEstimate {
  std::vector<double> sensitivity;  // [layers] accuracy lost when the density falls e times
  double trend = 0.0;               // smoothed change of accuracy per iteration
  double noise = 0.0004;  // smoothed square of what stays unexplained: two points at first
};

// One iteration's evidence.
struct PruningEffect {
  std::span<const double> before;  // [layers] sparsities of the chosen solution
  std::span<const double> after;   // [layers] sparsities trained under
  double accuracy_change = 0.0;
};

// Line 16. With r_l = ln(density before / after) of layer l, the loss of accuracy beyond the trend
// is explained as sum S_l r_l. What that misses by,
//   e = (trend - change) - sum S_l r_l,
// is attributed to the layers in proportion to what was done to them:
//   S_l += smoothing e r_l / (noise / 0.05^2 + sum r^2).
// This is a Kalman filter's gain for layers that differ by 0.05, so that where accuracies are noisy
// or still rise fast by training an iteration says little about its layers. Then
//   trend += smoothing (change - trend),    noise += smoothing (e^2 - noise).
// Layers that did not change keep their S. Does nothing if the change is no number.
void update_sensitivity(SensitivityEstimate& estimate, const PruningEffect& effect,
                        double smoothing);

// How readily a layer gives up density: exp(-z_l) (cost_l / largest cost)^exponent, where z_l is
// its sensitivity's distance from the mean in deviations (at least 0.05 is taken for a deviation,
// so that noise alone makes little difference), limited to [-1, 1], and cost_l the budget that it
// still keeps: a layer that has little to give is spared. 0 for excluded layers, else above 0.
std::vector<double> willingness(std::span<const double> sensitivity,
                                std::span<const double> sparsities, double exponent,
                                const LayerBudget& budget);

}  // namespace winnow
