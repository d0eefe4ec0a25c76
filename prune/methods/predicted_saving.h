// What the budget says about the worth of a layer's weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prune/evolution/budget/layer_budget.h"

namespace winnow {

// For each layer the share of the budget's cost that a weight saves when it goes, relative to the
// mean of all weights that are kept: 1 everywhere if the budget counts weights. It is the steepest
// way from here to any sparsity within the layer's range, so that a flat part, where a sparser
// layer is no faster, counts with what lies behind it. 0 for layers that cannot lose any.
//
//   kept_weights  [layers] under the masks of now
std::vector<double> predicted_savings(const LayerBudget& budget,
                                      std::span<const std::int64_t> kept_weights);

}  // namespace winnow
