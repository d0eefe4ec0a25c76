#include "prune/evolution/budget/allocation.h"

#include <algorithm>
#include <cmath>

#include "prune/evolution/budget/channel_allocation.h"
#include "prune/evolution/budget/least_loss_allocation.h"

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
    case Allocation::least_loss:
      return share_above(kind, curves[i], std::exp(-scale));
  }
  return 1.0;
}

// at(scale), whose densities rise with the scale from -range to range, for the largest scale that
// meets the density.
template <typename At>
std::vector<double> largest(double range, double density, const LayerBudget& budget, const At& at) {
  double low = -range, high = range;
  if (budget.planned_density(at(high)) <= density) return at(high);
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = low + (high - low) / 2;
    (budget.planned_density(at(middle)) <= density ? low : high) = middle;
  }
  return at(low);
}

std::vector<double> allocate_at(Allocation kind, double density, const LayerBudget& budget,
                                std::span<const MagnitudeCurve> curves) {
  if (kind == Allocation::least_loss) {
    return budget.is_time_of_channels() ? least_loss_of_channels(density, budget, curves)
                                        : least_loss_within(density, budget, curves);
  }
  return largest(kLargestLog, density, budget, [&](double scale) {
    std::vector<double> sparsities;
    for (std::size_t i = 0; i < budget.size(); ++i) {
      const LayerRange& range = budget.range(i);
      const double kept =
          range.excluded ? 1.0 - range.min : density_at(kind, scale, budget.layer(i), curves, i);
      sparsities.push_back(std::clamp(1.0 - kept, range.min, range.max));
    }
    return sparsities;
  });
}

// As far on the way from the densest network to these sparsities as the density says.
std::vector<double> on_the_way(const std::vector<double>& end, double density,
                               const LayerBudget& budget) {
  return largest(1.0, density, budget, [&](double scale) {
    const double share = (1.0 - scale) / 2;  // of the way
    std::vector<double> sparsities;
    for (std::size_t i = 0; i < end.size(); ++i) {
      const LayerRange& range = budget.range(i);
      const double reached = 1.0 - std::pow(1.0 - end[i], share);
      sparsities.push_back(std::clamp(reached, range.min, std::max(range.min, end[i])));
    }
    return sparsities;
  });
}

}  // namespace

std::vector<Allocation> known_allocations(const LayerBudget& budget) {
  std::vector<Allocation> known = {Allocation::uniform, Allocation::erk, Allocation::global,
                                   Allocation::lamp};
  if (!budget.is_proportional()) known.push_back(Allocation::least_loss);
  return known;
}

bool reads_magnitudes(Allocation kind) {
  return kind != Allocation::uniform && kind != Allocation::erk;
}

std::vector<double> allocate(Allocation kind, double density, const LayerBudget& budget,
                             std::span<const MagnitudeCurve> curves) {
  const double goal = budget.goal_density();
  if (budget.is_proportional() || density <= goal) {
    return budget.densest(allocate_at(kind, density, budget, curves));
  }
  return on_the_way(budget.densest(allocate_at(kind, goal, budget, curves)), density, budget);
}

}  // namespace winnow
