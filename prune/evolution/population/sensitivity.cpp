#include "prune/evolution/population/sensitivity.h"

#include <algorithm>
#include <cmath>

namespace winnow {
namespace {

constexpr double kTypical = 0.05;  // by which layers' sensitivities differ: five points
constexpr double kLimit = 1.0;     // deviations

struct Statistics {
  double mean = 0.0;
  double deviation = 0.0;
};

Statistics over_included(std::span<const double> sensitivity, const LayerBudget& budget) {
  double count = 0.0, sum = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < budget.size(); ++i) {
    if (budget.range(i).excluded) continue;
    count += 1.0;
    sum += sensitivity[i];
  }
  const double mean = sum / count;
  for (std::size_t i = 0; i < budget.size(); ++i) {
    if (budget.range(i).excluded) continue;
    squares += (sensitivity[i] - mean) * (sensitivity[i] - mean);
  }
  return {mean, std::sqrt(squares / count)};
}

}  // namespace

void update_sensitivity(SensitivityEstimate& estimate, const PruningEffect& effect,
                        double smoothing) {
  if (!std::isfinite(effect.accuracy_change)) return;
  std::vector<double>& sensitivity = estimate.sensitivity;
  std::vector<double> fall(sensitivity.size());
  double explained = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < fall.size(); ++i) {
    fall[i] = std::log((1.0 - effect.before[i]) / (1.0 - effect.after[i]));
    explained += sensitivity[i] * fall[i];
    squares += fall[i] * fall[i];
  }
  const double missed = (estimate.trend - effect.accuracy_change) - explained;
  const double scale = estimate.noise / (kTypical * kTypical) + squares;
  for (std::size_t i = 0; i < fall.size(); ++i) {
    if (fall[i] != 0.0) sensitivity[i] += smoothing * missed * fall[i] / scale;
  }
  estimate.trend += smoothing * (effect.accuracy_change - estimate.trend);
  estimate.noise += smoothing * (missed * missed - estimate.noise);
}

std::vector<double> willingness(std::span<const double> sensitivity,
                                std::span<const double> sparsities, double exponent,
                                const LayerBudget& budget) {
  const Statistics statistics = over_included(sensitivity, budget);
  const double deviation = std::max(statistics.deviation, kTypical);
  double largest = 0.0;
  for (std::size_t i = 0; i < budget.size(); ++i) {
    largest = std::max(largest, budget.kept_cost(i, sparsities[i]));
  }
  std::vector<double> willing(budget.size(), 0.0);
  for (std::size_t i = 0; i < budget.size(); ++i) {
    if (budget.range(i).excluded) continue;
    const double z = std::clamp((sensitivity[i] - statistics.mean) / deviation, -kLimit, kLimit);
    willing[i] = std::exp(-z) * std::pow(budget.kept_cost(i, sparsities[i]) / largest, exponent);
  }
  return willing;
}

}  // namespace winnow
