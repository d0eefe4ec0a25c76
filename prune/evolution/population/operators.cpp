#include "prune/evolution/population/operators.h"

#include <algorithm>
#include <cmath>

namespace winnow {
namespace {

constexpr int kHalvings = 100;  // more than a double has bits

std::size_t at(std::int64_t layer) {
  return static_cast<std::size_t>(layer);
}

double in_range(double sparsity, const LayerRange& range) {
  return std::clamp(sparsity, range.min, range.max);
}

// Exactly the largest sparsity where `density` calls for it.
double sparsity_of(double density, const LayerRange& range) {
  return density <= 1.0 - range.max ? range.max : in_range(1.0 - density, range);
}

// An x of increment() so large that every layer is at its range's end.
double all_at_end(std::span<const double> sparsities, std::span<const std::int64_t> layers,
                  std::span<const double> willingness, const LayerBudget& budget) {
  double x = 0.0;
  for (const std::int64_t layer : layers) {
    const double least = 1.0 - budget.range(at(layer)).max;  // above 0
    const double density = 1.0 - sparsities[at(layer)];
    if (willingness[at(layer)] <= 0.0 || density <= least) continue;
    x = std::max(x, std::log(density / least) / willingness[at(layer)]);
  }
  return x * 1.001;  // past any rounding
}

// Mean willingness of all layers, weighted by what they keep.
double mean_willingness(std::span<const double> willingness, std::span<const double> sparsities,
                        const LayerBudget& budget) {
  double sum = 0.0, cost = 0.0;
  for (std::size_t i = 0; i < budget.size(); ++i) {
    sum += willingness[i] * budget.kept_cost(i, sparsities[i]);
    cost += budget.kept_cost(i, sparsities[i]);
  }
  return sum / cost;
}

}  // namespace

std::vector<double> increment(std::span<const double> sparsities,
                              std::span<const std::int64_t> layers,
                              std::span<const double> willingness, const Increment& goal,
                              const LayerBudget& budget) {
  const double mean = mean_willingness(willingness, sparsities, budget);
  const auto raised_by = [&](double x) {
    std::vector<double> raised(sparsities.begin(), sparsities.end());
    for (const std::int64_t layer : layers) {
      const LayerRange& range = budget.range(at(layer));
      const double density = 1.0 - sparsities[at(layer)];
      const double willing = willingness[at(layer)];
      const double least = std::pow(1.0 - goal.step, std::min(1.0, willing / mean));
      const double wanted = density * std::max(std::exp(-x * willing), least);
      if (wanted < density && sparsities[at(layer)] < range.max) {
        raised[at(layer)] = sparsity_of(wanted, range);
      }
    }
    return raised;
  };
  const auto enough = [&](double x) {
    return budget.planned_density(raised_by(x)) <= goal.density;
  };

  double low = 0.0;
  double high = all_at_end(sparsities, layers, willingness, budget);
  if (enough(low)) return budget.densest(raised_by(low));
  if (!enough(high)) return raised_by(high);
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return budget.densest(raised_by(high));
}

std::vector<double> mutate(std::span<const double> sparsities, std::span<const std::int64_t> layers,
                           double range, const LayerBudget& budget, Random& random) {
  std::vector<double> mutated(sparsities.begin(), sparsities.end());
  for (const std::int64_t layer : layers) {
    const double density = (1.0 - sparsities[at(layer)]) * std::exp(random.uniform(-range, range));
    mutated[at(layer)] = in_range(1.0 - density, budget.range(at(layer)));
  }
  return mutated;
}

std::vector<double> with_density(std::span<const double> sparsities, double density,
                                 const LayerBudget& budget, std::span<const double> least) {
  constexpr double kLargestLog = 40.0;  // of the factor
  const auto scaled = [&](double scale) {
    std::vector<double> changed(sparsities.begin(), sparsities.end());
    for (std::size_t i = 0; i < changed.size(); ++i) {
      const LayerRange& range = budget.range(i);
      if (!range.excluded) {
        changed[i] = sparsity_of((1.0 - sparsities[i]) * std::exp(scale), range);
        if (!least.empty()) changed[i] = std::max(changed[i], least[i]);
      }
    }
    return changed;
  };
  double low = -kLargestLog, high = kLargestLog;
  if (budget.planned_density(scaled(high)) <= density) return budget.densest(scaled(high));
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = low + (high - low) / 2;
    (budget.planned_density(scaled(middle)) <= density ? low : high) = middle;
  }
  return budget.densest(scaled(low));
}

std::vector<std::int64_t> cross(std::vector<double>& a, std::vector<double>& b, Random& random) {
  std::vector<std::int64_t> layers;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (random.chance(0.5)) layers.push_back(static_cast<std::int64_t>(i));
  }
  if (layers.empty() && !a.empty()) {
    layers.push_back(static_cast<std::int64_t>(random.below(a.size())));
  }
  for (const std::int64_t layer : layers) std::swap(a[at(layer)], b[at(layer)]);
  return layers;
}

std::vector<double> halfway(std::span<const double> worked, std::span<const double> failed) {
  std::vector<double> middle(worked.begin(), worked.end());
  for (std::size_t i = 0; i < middle.size(); ++i) {
    if (failed[i] > worked[i]) {
      middle[i] =
          std::clamp(1.0 - std::sqrt((1.0 - worked[i]) * (1.0 - failed[i])), worked[i], failed[i]);
    }
  }
  return middle;
}

}  // namespace winnow
