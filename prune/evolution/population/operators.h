// What changes sparsities: increment, mutation, crossover. Values stay within the layers' ranges;
// excluded layers stay at 0. Plans that meet the goal are the densest of their cost
// (LayerBudget::densest).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "prune/evolution/budget/layer_budget.h"
#include "runtime/base/random.h"

namespace winnow {

struct Increment {
  double density = 1.0;  // of the whole budget, to get down to
  double step = 1.0;     // largest share of a layer's density taken at once
};

// Line 10. Raises the sparsities of the given layers just until planned_density() is no more than
// asked for, or as far as step and ranges let it. Layer l's density becomes
//   density_l * max(exp(-x * willingness_l), (1 - step)^min(1, willingness_l / mean))
// with one x for all, so willing layers give more. `mean` is over all layers, weighted by what they
// keep: a layer less willing than that is not pressed to the full step where it was chosen without
// one that could give.
//
//   willingness  [layers] of all layers, above 0 for the given layers that may change
std::vector<double> increment(std::span<const double> sparsities,
                              std::span<const std::int64_t> layers,
                              std::span<const double> willingness, const Increment& goal,
                              const LayerBudget& budget);

// Line 12. Random sparsity changes in the given layers: density_l times exp(u), u uniform in
// [-range, range].
std::vector<double> mutate(std::span<const double> sparsities, std::span<const std::int64_t> layers,
                           double range, const LayerBudget& budget, Random& random);

// The same plan with every density times one factor, so that planned_density() is no more than
// `density` and as near to it as ranges and blocks allow. No layer is less sparse than `least`
// [layers] says; empty: as its range allows.
std::vector<double> with_density(std::span<const double> sparsities, double density,
                                 const LayerBudget& budget, std::span<const double> least = {});

// Line 12. Exchanges the sparsities of two parents in randomly chosen layers: each with chance 1/2,
// at least one. Returns the layers.
std::vector<std::int64_t> cross(std::vector<double>& a, std::vector<double>& b, Random& random);

// Halfway in log density between what worked and a plan that failed: the next try prunes half as
// much. Where the plan is the less sparse one, `worked` stays.
std::vector<double> halfway(std::span<const double> worked, std::span<const double> failed);

}  // namespace winnow
