#include "prune/methods/predicted_saving.h"

#include <algorithm>

namespace winnow {
namespace {

constexpr int kSteps = 32;  // sparsities tried on the way to a layer's largest

// Per weight of layer i, in the unit of planned_density().
double steepest(const LayerBudget& budget, std::vector<double> sparsities, std::size_t i) {
  const LayerRange& range = budget.range(i);
  const double now = sparsities[i];
  if (range.excluded || now >= range.max) return 0.0;
  const double whole = budget.planned_density(sparsities);
  const auto weights = static_cast<double>(budget.layer(i).weights);
  double most = 0.0;
  for (int step = 1; step <= kSteps; ++step) {
    sparsities[i] = now + (range.max - now) * step / kSteps;
    const double saved = whole - budget.planned_density(sparsities);
    most = std::max(most, saved / ((sparsities[i] - now) * weights));
  }
  return most;
}

}  // namespace

std::vector<double> predicted_savings(const LayerBudget& budget,
                                      std::span<const std::int64_t> kept_weights) {
  std::vector<double> sparsities;
  for (std::size_t i = 0; i < budget.size(); ++i) {
    sparsities.push_back(1.0 - static_cast<double>(kept_weights[i]) /
                                   static_cast<double>(budget.layer(i).weights));
  }
  std::vector<double> savings;
  double sum = 0.0, weights = 0.0;
  for (std::size_t i = 0; i < budget.size(); ++i) {
    savings.push_back(steepest(budget, sparsities, i));
    if (savings[i] <= 0.0) continue;
    const auto kept = static_cast<double>(kept_weights[i]);
    sum += savings[i] * kept;
    weights += kept;
  }
  for (double& saving : savings) saving = sum > 0.0 ? saving * weights / sum : 0.0;
  return savings;
}

}  // namespace winnow
