#include "prune/evolution/planning.h"

#include "prune/evolution/layer_choice.h"
#include "prune/evolution/population/operators.h"
#include "prune/evolution/population/sensitivity.h"

namespace winnow {

std::vector<double> Planner::willing(const std::vector<double>& sparsities) const {
  return willingness(state.learned.sensitivity, sparsities, config.size_exponent, budget);
}

std::vector<double> Planner::deepened(const std::vector<double>& plan, double density) const {
  return increment(plan, all_layers(budget), willing(plan), {density, 1.0}, budget);
}

}  // namespace winnow
