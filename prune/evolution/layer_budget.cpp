#include "prune/evolution/layer_budget.h"

#include <algorithm>
#include <string>

#include "prune/evolution/importance.h"
#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

void check_layer(const PrunableLayer& layer) {
  const bool fits =
      layer.blocks > 0 && layer.weights_per_block > 0 && layer.weights >= layer.blocks &&
      (layer.weights - 1) / layer.blocks < layer.weights_per_block && layer.macs_per_weight > 0;
  if (fits) return;
  fail(ErrorCode::usage, "layer ", in_quotes(layer.name), ": ", layer.weights, " weights in ",
       layer.blocks, " blocks of at most ", layer.weights_per_block, ", ", layer.macs_per_weight,
       " multiply-accumulates per weight: these do not fit together");
}

std::size_t index_of(const std::string& name, const char* key,
                     const std::vector<PrunableLayer>& layers) {
  std::vector<std::string> names;
  for (const PrunableLayer& layer : layers) names.push_back(layer.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    fail(ErrorCode::usage, key, ": no prunable layer ", in_quotes(name), suggestion(name, names));
  }
  return static_cast<std::size_t>(found - names.begin());
}

std::vector<LayerRange> ranges_of(const EvolutionConfig& config,
                                  const std::vector<PrunableLayer>& layers) {
  std::vector<LayerRange> ranges(layers.size(), {0.0, config.max_layer_sparsity, false});
  std::vector<bool> limited(layers.size(), false);
  for (const LayerLimits& limits : config.layer_limits) {
    const std::size_t i = index_of(limits.layer, "layer_limits", layers);
    if (limited[i]) fail(ErrorCode::usage, "layer_limits: ", in_quotes(limits.layer), " twice");
    limited[i] = true;
    ranges[i] = {limits.min_sparsity, limits.max_sparsity, false};
  }
  for (const std::string& name : config.exclude) {
    ranges[index_of(name, "exclude", layers)] = {0.0, 0.0, true};
  }
  return ranges;
}

}  // namespace

LayerBudget::LayerBudget(const EvolutionConfig& config, const std::vector<PrunableLayer>& layers)
    : layers_(layers), ranges_(ranges_of(config, layers)) {
  std::vector<double> most;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    check_layer(layers_[i]);
    const bool by_macs = config.budget == Budget::macs;
    cost_per_weight_.push_back(ranges_[i].excluded ? 0.0
                               : by_macs           ? layers_[i].macs_per_weight
                                                   : 1.0);
    const auto weights = static_cast<double>(layers_[i].weights);
    total_cost_ += cost_per_weight_[i] * weights;
    total_weights_ += ranges_[i].excluded ? 0.0 : weights;
    most.push_back(ranges_[i].max);
  }
  if (!(total_cost_ > 0.0)) {
    fail(ErrorCode::usage, "exclude: no prunable layer is left, expected at least one");
  }
  reachable_density_ = planned_density(most);
  goal_density_ = std::max(reachable_density_, 1.0 - config.target_sparsity);
}

double LayerBudget::density(std::span<const std::int64_t> kept_weights) const {
  double kept = 0.0;
  for (std::size_t i = 0; i < size(); ++i) {
    kept += cost_per_weight_[i] * static_cast<double>(kept_weights[i]);
  }
  return kept / total_cost_;
}

double LayerBudget::weight_density(std::span<const std::int64_t> kept_weights) const {
  double kept = 0.0;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!ranges_[i].excluded) kept += static_cast<double>(kept_weights[i]);
  }
  return kept / total_weights_;
}

double LayerBudget::kept_cost(std::size_t i, double sparsity) const {
  const PrunableLayer& layer = layers_[i];
  const std::int64_t kept = kept_blocks(layer.blocks, sparsity);
  const std::int64_t most = kept > layer.weights / layer.weights_per_block
                                ? layer.weights
                                : kept * layer.weights_per_block;
  return cost_per_weight_[i] * static_cast<double>(most);
}

double LayerBudget::planned_density(std::span<const double> sparsities) const {
  double kept = 0.0;
  for (std::size_t i = 0; i < size(); ++i) kept += kept_cost(i, sparsities[i]);
  return kept / total_cost_;
}

}  // namespace winnow
