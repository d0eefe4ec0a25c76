#include "prune/evolution/layer_budget.h"

#include <algorithm>
#include <string>

#include "prune/evolution/importance.h"
#include "prune/evolution/layer_names.h"
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

// Bounds that name a layer replace those of a pattern that matches it.
void set_limits(const EvolutionConfig& config, bool is_by_name,
                const std::vector<PrunableLayer>& layers, std::vector<LayerRange>& ranges) {
  constexpr char kKey[] = "layer_limits";
  std::vector<std::string> limited_by(layers.size());
  for (const LayerLimits& limits : config.layer_limits) {
    for (const std::size_t i : layers_named(limits.layer, kKey, layers)) {
      if ((layers[i].name == limits.layer) != is_by_name) continue;
      if (!limited_by[i].empty() && limited_by[i] == limits.layer) {
        fail(ErrorCode::usage, kKey, ": ", in_quotes(limits.layer), " twice");
      }
      if (!limited_by[i].empty()) {
        fail(ErrorCode::usage, kKey, ": layer ", in_quotes(layers[i].name), " is matched by ",
             in_quotes(limited_by[i]), " and by ", in_quotes(limits.layer));
      }
      limited_by[i] = limits.layer;
      ranges[i] = {limits.min_sparsity, limits.max_sparsity, false};
    }
  }
}

// Masks given at the start may not prune more than the bounds allow: weights would come back.
void require_room(const std::vector<PrunableLayer>& layers, const std::vector<LayerRange>& ranges) {
  constexpr double kRounding = 1e-9;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].initial_sparsity <= ranges[i].max + kRounding) continue;
    fail(ErrorCode::usage, "masks: layer ", in_quotes(layers[i].name), " begins with sparsity ",
         layers[i].initial_sparsity, ", but its limit is ", ranges[i].max,
         " (max_layer_sparsity, layer_limits)");
  }
}

// An excluded layer keeps as many blocks as it begins with.
std::vector<LayerRange> ranges_of(const EvolutionConfig& config,
                                  const std::vector<PrunableLayer>& layers) {
  std::vector<LayerRange> ranges(layers.size(), {0.0, config.max_layer_sparsity, false});
  set_limits(config, false, layers, ranges);
  set_limits(config, true, layers, ranges);
  for (const std::string& text : config.exclude) {
    for (const std::size_t i : layers_named(text, "exclude", layers)) {
      ranges[i] = {layers[i].initial_sparsity, layers[i].initial_sparsity, true};
    }
  }
  require_room(layers, ranges);
  return ranges;
}

// The sum of layer i's costs; every block of it has as many weights as the others.
double paired(std::size_t i, const std::vector<PrunableLayer>& layers,
              std::span<const std::int64_t> kept, double ChannelCost::*kind) {
  const auto blocks = [&](std::size_t layer) {
    return static_cast<double>(kept[layer] / layers[layer].weights_per_block);
  };
  double sum = 0.0;
  for (const ChannelCost& cost : layers[i].costs) {
    const double others = cost.other == ChannelCost::kNone ? 1.0 : blocks(cost.other);
    sum += cost.*kind * blocks(i) * others;
  }
  return sum;
}

}  // namespace

LayerBudget::LayerBudget(const EvolutionConfig& config, const std::vector<PrunableLayer>& layers)
    : layers_(layers), ranges_(ranges_of(config, layers)), by_macs_(config.budget == Budget::macs) {
  std::vector<double> most;
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    check_layer(layers_[i]);
    cost_per_weight_.push_back(by_macs_ ? layers_[i].macs_per_weight : 1.0);
    most.push_back(ranges_[i].max);
    all.push_back(layers_[i].weights);
  }
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    total_cost_ += cost_of(i, all);
    total_weights_ += weights_of(i, all);
  }
  if (!(total_cost_ > 0.0)) {
    fail(ErrorCode::usage, "exclude: no prunable layer is left, expected at least one");
  }
  reachable_density_ = planned_density(most);
  goal_density_ = std::max(reachable_density_, 1.0 - config.target_sparsity);
}

double LayerBudget::weights_of(std::size_t i, std::span<const std::int64_t> kept) const {
  if (ranges_[i].excluded) return 0.0;
  if (layers_[i].costs.empty()) return static_cast<double>(kept[i]);
  return paired(i, layers_, kept, &ChannelCost::weights);
}

double LayerBudget::cost_of(std::size_t i, std::span<const std::int64_t> kept) const {
  if (ranges_[i].excluded) return 0.0;
  if (layers_[i].costs.empty()) return cost_per_weight_[i] * static_cast<double>(kept[i]);
  return paired(i, layers_, kept, by_macs_ ? &ChannelCost::macs : &ChannelCost::weights);
}

double LayerBudget::density(std::span<const std::int64_t> kept_weights) const {
  double kept = 0.0;
  for (std::size_t i = 0; i < size(); ++i) kept += cost_of(i, kept_weights);
  return kept / total_cost_;
}

double LayerBudget::weight_density(std::span<const std::int64_t> kept_weights) const {
  double kept = 0.0;
  for (std::size_t i = 0; i < size(); ++i) kept += weights_of(i, kept_weights);
  return kept / total_weights_;
}

std::vector<std::int64_t> LayerBudget::most_kept(std::span<const double> sparsities) const {
  std::vector<std::int64_t> most;
  for (std::size_t i = 0; i < size(); ++i) {
    const PrunableLayer& layer = layers_[i];
    const std::int64_t kept = kept_blocks(layer.blocks, sparsities[i]);
    most.push_back(kept > layer.weights / layer.weights_per_block ? layer.weights
                                                                  : kept * layer.weights_per_block);
  }
  return most;
}

double LayerBudget::kept_cost(std::size_t i, double sparsity) const {
  std::vector<double> sparsities(size(), 0.0);
  sparsities[i] = sparsity;
  return cost_of(i, most_kept(sparsities));
}

double LayerBudget::planned_density(std::span<const double> sparsities) const {
  return density(most_kept(sparsities));
}

}  // namespace winnow
