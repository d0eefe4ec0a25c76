#include "prune/methods/goal_plan.h"

namespace winnow {

Allocation goal_allocation(const MethodConfig& method, const EvolutionConfig& evolution) {
  if (method.method == Method::magnitude || method.method == Method::lottery) {
    return method.allocation;
  }
  if (evolution.base_allocation) return *evolution.base_allocation;
  return evolution.budget == Budget::time ? Allocation::least_loss : Allocation::global;
}

std::vector<double> goal_sparsities(const MethodConfig& method, const EvolutionConfig& evolution,
                                    const LayerBudget& budget,
                                    std::span<const MagnitudeCurve> curves) {
  return allocate(goal_allocation(method, evolution), budget.goal_density(), budget, curves);
}

}  // namespace winnow
