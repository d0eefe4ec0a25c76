#include "prune/evolution/layer_choice.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace winnow {
namespace {

constexpr double kLeastRoom = 1e-9;

// Index into `weights`, each drawn in proportion to its weight.
std::size_t draw(std::span<const double> weights, Random& random) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  double left = random.uniform() * sum;
  for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
    if (left < weights[i]) return i;
    left -= weights[i];
  }
  return weights.size() - 1;
}

std::vector<double> rooms(std::span<const double> sparsities, const LayerBudget& budget) {
  std::vector<double> room(budget.size(), 0.0);
  bool any = false;
  for (std::size_t i = 0; i < budget.size(); ++i) {
    const LayerRange& range = budget.range(i);
    if (range.excluded || range.max <= 0.0) continue;
    const double share = 1.0 - std::log(1.0 - sparsities[i]) / std::log(1.0 - range.max);
    room[i] = share > kLeastRoom ? share : 0.0;
    any = any || room[i] > 0.0;
  }
  if (any) return room;
  for (const std::int64_t i : all_layers(budget)) room[static_cast<std::size_t>(i)] = 1.0;
  return room;
}

}  // namespace

std::vector<std::int64_t> all_layers(const LayerBudget& budget) {
  std::vector<std::int64_t> layers;
  for (std::size_t i = 0; i < budget.size(); ++i) {
    if (!budget.range(i).excluded) layers.push_back(static_cast<std::int64_t>(i));
  }
  return layers;
}

std::vector<std::int64_t> choose_layers(std::span<const double> sparsities,
                                        std::span<const double> willingness,
                                        const LayerChoice& choice, const LayerBudget& budget,
                                        Random& random) {
  const std::vector<double> room = rooms(sparsities, budget);
  std::vector<std::int64_t> candidates;
  std::vector<double> weights;
  for (std::size_t i = 0; i < budget.size(); ++i) {
    if (room[i] <= 0.0) continue;
    candidates.push_back(static_cast<std::int64_t>(i));
    weights.push_back(willingness[i] * room[i]);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto n = static_cast<double>(candidates.size());
  for (double& weight : weights) {
    weight = choice.exploration / n + (1.0 - choice.exploration) * weight / sum;
  }
  const auto count = static_cast<std::size_t>(std::max(1.0, std::ceil(choice.fraction * n)));
  std::vector<std::int64_t> chosen;
  while (chosen.size() < count && !candidates.empty()) {
    const auto i = static_cast<std::ptrdiff_t>(draw(weights, random));
    chosen.push_back(candidates[static_cast<std::size_t>(i)]);
    candidates.erase(candidates.begin() + i);
    weights.erase(weights.begin() + i);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace winnow
