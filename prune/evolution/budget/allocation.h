// Known ways to divide a budget among layers, without training.
#pragma once

#include <span>
#include <vector>

#include "prune/evolution/budget/layer_budget.h"
#include "prune/evolution/trainee/trainee.h"

namespace winnow {

enum class Allocation {
  uniform,  // the same density everywhere
  erk,      // density in proportion to (sum of the weight's sizes) / (product): Erdos-Renyi kernel,
            // Evci et al., "Rigging the lottery", ICML 2020
  global,   // the blocks of largest magnitude in the whole network
  lamp,     // those of largest w^2 / sum of all w^2 of the layer that are no smaller: Lee et al.,
            // "Layer-adaptive sparsity for the magnitude-based pruning", ICLR 2021
  least_loss,  // what loses least by magnitude within the budget (least_loss_allocation.h)
};

// All of them that differ in this budget: least_loss counts where costs have flat parts, else it is
// lamp but for how fine it looks.
std::vector<Allocation> known_allocations(const LayerBudget& budget);

// Whether allocate() wants the layers' curves.
bool reads_magnitudes(Allocation kind);

// Sparsities [layers], within the layers' ranges, whose planned_density() is no more than `density`
// and, as far as ranges, blocks and curves allow, as much. Excluded layers keep theirs.
//
// A budget of time has flat parts, so what one density asks for says little of what a lower one
// does: above the goal each layer is on its way to the sparsity that the goal gives it, the same
// share of its log density as all others.
//
//   curves  [layers]; only `global`, `lamp` and `least_loss` read them
std::vector<double> allocate(Allocation kind, double density, const LayerBudget& budget,
                             std::span<const MagnitudeCurve> curves);

}  // namespace winnow
