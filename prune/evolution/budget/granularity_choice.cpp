#include "prune/evolution/budget/granularity_choice.h"

#include <algorithm>
#include <memory>

#include "prune/evolution/budget/least_loss_allocation.h"
#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

LayerBudget budget_of(EvolutionConfig config, const MaskTimes& times,
                      const std::vector<PrunableLayer>& layers) {
  auto time = std::make_shared<TimeModel>(*config.time);
  time->layers = times.layers;
  config.time = std::move(time);
  return LayerBudget(config, layers);
}

const MaskTimes& times_of(const TimeModel& time, std::int64_t vector) {
  const auto found = std::ranges::find(time.granularities, vector, &MaskTimes::vector);
  if (found != time.granularities.end()) return *found;
  fail(ErrorCode::usage, "granularity: the table has no times of vectors of ", vector);
}

}  // namespace

GranularityChoice choose_granularities(const EvolutionConfig& config,
                                       const std::vector<LayersOfGranularity>& granularities) {
  std::vector<LayerBudget> budgets;
  for (std::size_t g = 0; g < granularities.size(); ++g) {
    budgets.push_back(budget_of(config, config.time->granularities.at(g), granularities[g].layers));
  }
  std::vector<TimeOption> options;
  for (std::size_t g = 0; g < granularities.size(); ++g) {
    options.push_back({&budgets[g], granularities[g].curves});
  }
  const LayerBudget& first = budgets.front();  // targets and whole networks are equal in all
  GranularityChoice choice;
  choice.predicted_ms = first.cost_at(1.0) - first.spendable(1.0);
  for (const LayerWay& way : least_loss_ways(first.target_density(), options)) {
    choice.vectors.push_back(config.time->granularities[way.option].vector);
    choice.sparsities.push_back(way.sparsity);
    choice.predicted_ms += way.cost;
  }
  return choice;
}

TimeModel with_granularities(TimeModel time, const std::vector<std::int64_t>& vectors,
                             const std::vector<PrunableLayer>& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto own = std::ranges::find(time.layers, layers[i].name, &LayerTimeCurve::name);
    if (own == time.layers.end()) continue;  // excluded, and not in the table
    const MaskTimes& times = times_of(time, vectors.at(i));
    *own = *std::ranges::find(times.layers, layers[i].name, &LayerTimeCurve::name);
  }
  return time;
}

}  // namespace winnow
