#include "prune/evolution/budget/layer_budget.h"

#include <algorithm>
#include <cmath>

#include "prune/evolution/trainee/importance.h"
#include "runtime/base/divided_up.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

// Of balanced rows exactly as many as there are, a ragged last row included.
std::int64_t most_kept_of(const PrunableLayer& layer, double sparsity) {
  const std::int64_t kept = kept_blocks(layer, sparsity);
  if (layer.balanced_rows > 1) return divided_up(kept * layer.weights, layer.blocks);
  return kept > layer.weights / layer.weights_per_block ? layer.weights
                                                        : kept * layer.weights_per_block;
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
    : layers_(layers),
      ranges_(layer_ranges(config, layers)),
      by_macs_(config.budget == Budget::macs),
      loss_power_(config.loss_power) {
  make_curves(config);
  std::vector<double> most;
  std::vector<std::int64_t> all;
  bool is_any_left = false;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    most.push_back(ranges_[i].max);
    all.push_back(layers_[i].weights);
    is_any_left = is_any_left || !ranges_[i].excluded;
  }
  if (!is_any_left) {
    fail(ErrorCode::usage, "exclude: no prunable layer is left, expected at least one");
  }
  for (std::size_t i = 0; i < layers_.size(); ++i) total_weights_ += weights_of(i, all);
  total_cost_ = cost(all);
  target_density_ = target_of(config);
  reachable_density_ = cost(most_kept(most)) / total_cost_;
  goal_density_ = std::max(reachable_density_, target_density_);
}

// An excluded layer takes the time of the weights that it keeps.
void LayerBudget::make_curves(const EvolutionConfig& config) {
  if (config.budget != Budget::time) {
    for (const PrunableLayer& layer : layers_) {
      curves_.push_back(
          CostCurve::proportional(by_macs_ ? layer.macs_per_weight : 1.0, layer.weights));
    }
    return;
  }
  if (!config.time) fail(ErrorCode::usage, "time_table: missing, but budget is time");
  time_ = std::make_shared<const TimeModel>(without_removed(*config.time, layers_));
  if (!layers_.front().costs.empty()) return make_channel_time();
  require_fit(*time_, layers_, ranges_);
  fixed_cost_ = time_->constant_ms;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerTimeCurve* const found = time_of(*time_, layers_[i].name);
    curves_.push_back(found ? CostCurve::time(*found, time_->scale)
                            : CostCurve::proportional(0.0, layers_[i].weights));
    if (ranges_[i].excluded) {
      fixed_cost_ +=
          curves_[i].at(static_cast<double>(most_kept_of(layers_[i], layers_[i].initial_sparsity)));
    }
  }
  for (const LayerTimeCurve& layer : time_->layers) {
    const bool is_of_network =
        std::ranges::find(layers_, layer.name, &PrunableLayer::name) != layers_.end();
    if (!is_of_network) fixed_cost_ += time_->scale * layer.dense_ms;
  }
}

void LayerBudget::make_channel_time() {
  channel_time_ = std::make_shared<const ChannelTime>(*time_, layers_);
  std::vector<bool> is_fixed;
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    is_fixed.push_back(ranges_[i].excluded);
    kept.push_back(most_kept_of(layers_[i], layers_[i].initial_sparsity));
  }
  fixed_cost_ = time_->constant_ms + channel_time_->of_fixed(is_fixed, kept);
}

double target_ms(const EvolutionConfig& config) {
  return config.target_ms > 0.0 ? config.target_ms : config.time->dense_ms / config.target_speedup;
}

double LayerBudget::target_of(const EvolutionConfig& config) const {
  if (!time_) return kept_target_of(config);
  const double ms = target_ms(config);
  const char* key = config.target_ms > 0.0 ? "target_ms" : "target_speedup";
  if (ms >= total_cost_) {
    fail(ErrorCode::usage, key, ": ", ms,
         " ms are reached without pruning: by the table the dense network takes ", total_cost_);
  }
  if (ms <= fixed_cost_) {
    fail(ErrorCode::usage, key, ": ", ms,
         " ms are out of reach: by the table what is not pruned takes ", fixed_cost_);
  }
  return ms / total_cost_;
}

double LayerBudget::kept_target_of(const EvolutionConfig& config) const {
  if (config.target_kept == 0) return 1.0 - config.target_sparsity;
  const auto kept = static_cast<double>(config.target_kept);
  if (kept >= total_cost_) {
    fail(ErrorCode::usage, "target_kept: ", config.target_kept,
         " are reached without pruning: the network has ", static_cast<std::int64_t>(total_cost_));
  }
  return kept / total_cost_;
}

double LayerBudget::weights_of(std::size_t i, std::span<const std::int64_t> kept) const {
  if (ranges_[i].excluded) return 0.0;
  if (layers_[i].costs.empty()) return static_cast<double>(kept[i]);
  return paired(i, layers_, kept, &ChannelCost::weights);
}

double LayerBudget::cost_of(std::size_t i, std::span<const std::int64_t> kept) const {
  if (ranges_[i].excluded) return 0.0;
  if (layers_[i].costs.empty()) return curves_[i].at(static_cast<double>(kept[i]));
  return paired(i, layers_, kept, by_macs_ ? &ChannelCost::macs : &ChannelCost::weights);
}

double LayerBudget::cost(std::span<const std::int64_t> kept) const {
  if (channel_time_) return time_->constant_ms + channel_time_->at(kept);
  double sum = fixed_cost_;
  for (std::size_t i = 0; i < size(); ++i) sum += cost_of(i, kept);
  return sum;
}

double LayerBudget::density(std::span<const std::int64_t> kept_weights) const {
  const double share = cost(kept_weights) / total_cost_;
  if (is_proportional() || share <= goal_density_) return share;
  double convex =
      channel_time_ ? time_->constant_ms + channel_time_->convex_at(kept_weights) : fixed_cost_;
  for (std::size_t i = 0; i < curves_.size(); ++i) {
    if (!ranges_[i].excluded) convex += curves_[i].convex_at(static_cast<double>(kept_weights[i]));
  }
  return std::max(convex / total_cost_, std::nextafter(goal_density_, 2.0));
}

double LayerBudget::unit_ms(std::size_t i, std::span<const std::int64_t> kept_weights) const {
  return channel_time_->of_unit(i, kept_weights);
}

// The most blocks of layer i that cost no more than those of `kept`.
double LayerBudget::dense_end(std::size_t i, std::vector<std::int64_t> kept) const {
  const PrunableLayer& layer = layers_[i];
  if (!channel_time_) {
    const double weights = curves_[i].most_for(static_cast<double>(kept[i]));
    if (weights >= static_cast<double>(layer.weights)) return static_cast<double>(layer.blocks);
    const auto whole = static_cast<std::int64_t>(weights);
    if (layer.balanced_rows == 1) return static_cast<double>(whole / layer.weights_per_block);
    const std::int64_t in_row = layer.blocks / layer.balanced_rows;
    return static_cast<double>(whole * in_row / layer.weights * layer.balanced_rows);
  }
  constexpr double kRounding = 1e-12;
  const double most = unit_ms(i, kept) * (1.0 + kRounding);
  std::int64_t blocks = kept[i] / layer.weights_per_block, beyond = layer.blocks + 1;
  while (beyond - blocks > 1) {
    const std::int64_t middle = blocks + (beyond - blocks) / 2;
    kept[i] = middle * layer.weights_per_block;
    (unit_ms(i, kept) <= most ? blocks : beyond) = middle;
  }
  return static_cast<double>(blocks);
}

std::vector<double> LayerBudget::densest(std::vector<double> sparsities) const {
  if (is_proportional() || planned_density(sparsities) > goal_density_) return sparsities;
  std::vector<std::int64_t> kept = most_kept(sparsities);
  for (std::size_t i = 0; i < size(); ++i) {
    if (ranges_[i].excluded) continue;
    const PrunableLayer& layer = layers_[i];
    const double blocks = dense_end(i, kept);
    const double least = 1.0 - blocks / static_cast<double>(layer.blocks);
    sparsities[i] = std::min(sparsities[i], std::max(least, ranges_[i].min));
    kept[i] = most_kept(i, sparsities[i]);
  }
  return sparsities;
}

bool LayerBudget::has_balanced_rows() const {
  return std::ranges::any_of(layers_, [](const auto& one) { return one.balanced_rows > 1; });
}

double LayerBudget::weight_density(std::span<const std::int64_t> kept_weights) const {
  double kept = 0.0;
  for (std::size_t i = 0; i < size(); ++i) kept += weights_of(i, kept_weights);
  return kept / total_weights_;
}

std::vector<std::int64_t> LayerBudget::most_kept(std::span<const double> sparsities) const {
  std::vector<std::int64_t> most;
  for (std::size_t i = 0; i < size(); ++i) {
    most.push_back(most_kept_of(layers_[i], sparsities[i]));
  }
  return most;
}

std::int64_t LayerBudget::most_kept(std::size_t i, double sparsity) const {
  return most_kept_of(layers_[i], sparsity);
}

double LayerBudget::summed_loss(const MagnitudeCurve& curve, std::int64_t kept) const {
  return std::pow(loss_of(curve, kept), loss_power_);
}

double LayerBudget::kept_cost(std::size_t i, double sparsity) const {
  if (layers_[i].costs.empty() && !ranges_[i].excluded) {
    return curves_[i].at(static_cast<double>(most_kept_of(layers_[i], sparsity)));
  }
  std::vector<double> sparsities(size(), 0.0);
  sparsities[i] = sparsity;
  if (channel_time_) return ranges_[i].excluded ? 0.0 : unit_ms(i, most_kept(sparsities));
  return cost_of(i, most_kept(sparsities));
}

double LayerBudget::planned_density(std::span<const double> sparsities) const {
  return density(most_kept(sparsities));
}

}  // namespace winnow
