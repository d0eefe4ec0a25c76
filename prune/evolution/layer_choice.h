// Which layers an iteration works on (line 4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prune/evolution/budget/layer_budget.h"
#include "runtime/base/random.h"

namespace winnow {

struct LayerChoice {
  double fraction = 0.5;     // of the layers that have room
  double exploration = 0.2;  // share of the weights that is uniform
};

// Draws ceil(fraction n) of the n layers that have room, without replacement. The weight of a layer
// is exploration / n + (1 - exploration) v_l / sum v, where v_l = willingness_l * room_l and room_l
// is its distance to its largest sparsity in log density, as a share of the way from dense. If no
// layer has room, all that are not excluded count as if they had. Ascending.
std::vector<std::int64_t> choose_layers(std::span<const double> sparsities,
                                        std::span<const double> willingness,
                                        const LayerChoice& choice, const LayerBudget& budget,
                                        Random& random);

// Every layer that is not excluded, ascending.
std::vector<std::int64_t> all_layers(const LayerBudget& budget);

}  // namespace winnow
