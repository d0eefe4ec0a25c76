#include "prune/methods/goal_plan.h"

namespace winnow {
namespace {

Allocation allocation_of(const MethodConfig& method, const EvolutionConfig& evolution) {
  if (method.method == Method::magnitude || method.method == Method::lottery) {
    return method.allocation;
  }
  if (evolution.base_allocation) return *evolution.base_allocation;
  return evolution.budget == Budget::time ? Allocation::least_loss : Allocation::global;
}

}  // namespace

std::vector<double> goal_sparsities(const MethodConfig& method, const EvolutionConfig& evolution,
                                    const LayerBudget& budget,
                                    std::span<const MagnitudeCurve> curves) {
  return allocate(allocation_of(method, evolution), budget.goal_density(), budget, curves);
}

}  // namespace winnow
