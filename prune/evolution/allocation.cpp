#include "prune/evolution/allocation.h"

#include <algorithm>
#include <cmath>

namespace winnow {
namespace {

constexpr int kHalvings = 100;        // more than a double has bits
constexpr double kLargestLog = 80.0;  // of scales and of thresholds

// Sum of a weight's sizes over their product.
double erdos_renyi(const PrunableLayer& layer) {
  double sum = 0.0, product = 1.0;
  for (const std::int64_t size : layer.shape) {
    sum += static_cast<double>(size);
    product *= static_cast<double>(size);
  }
  return sum / product;
}

double score(Allocation kind, const MagnitudeCurve& curve, std::size_t i) {
  const double magnitude = curve.magnitudes[i];
  if (kind == Allocation::global) return magnitude;
  return curve.squares[i] > 0.0 ? magnitude * magnitude / curve.squares[i] : 0.0;
}

// Share of the layer's blocks whose score is no less than `threshold`, which is above 0. Scores
// fall with the rank, LAMP's too.
double share_above(Allocation kind, const MagnitudeCurve& curve, double threshold) {
  std::size_t low = 0, high = curve.ranks.size();  // the first below the threshold
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (score(kind, curve, middle) >= threshold) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return 0.0;
  const auto blocks = static_cast<double>(curve.ranks.back() + 1);
  const auto last = static_cast<double>(curve.ranks[low - 1]);
  if (low == curve.ranks.size()) return 1.0;
  // Between two ranks of the curve scores are taken to fall evenly.
  const double above = score(kind, curve, low - 1), below = score(kind, curve, low);
  const double gap = static_cast<double>(curve.ranks[low]) - last;
  return (last + 1.0 + (gap - 1.0) * (above - threshold) / (above - below)) / blocks;
}

// The density that layer i gets at e^scale; rises with it.
double density_at(Allocation kind, double scale, const PrunableLayer& layer,
                  std::span<const MagnitudeCurve> curves, std::size_t i) {
  switch (kind) {
    case Allocation::uniform:
      return std::exp(scale);
    case Allocation::erk:
      return std::exp(scale) * erdos_renyi(layer);
    case Allocation::global:
    case Allocation::lamp:
      return share_above(kind, curves[i], std::exp(-scale));
  }
  return 1.0;
}

}  // namespace

std::vector<double> allocate(Allocation kind, double density, const LayerBudget& budget,
                             std::span<const MagnitudeCurve> curves) {
  const auto at = [&](double scale) {
    std::vector<double> sparsities;
    for (std::size_t i = 0; i < budget.size(); ++i) {
      const LayerRange& range = budget.range(i);
      const double kept =
          range.excluded ? 1.0 - range.min : density_at(kind, scale, budget.layer(i), curves, i);
      sparsities.push_back(std::clamp(1.0 - kept, range.min, range.max));
    }
    return sparsities;
  };
  double low = -kLargestLog, high = kLargestLog;
  if (budget.planned_density(at(high)) <= density) return at(high);
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = low + (high - low) / 2;
    (budget.planned_density(at(middle)) <= density ? low : high) = middle;
  }
  return at(low);
}

}  // namespace winnow
