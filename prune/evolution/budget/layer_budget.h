// What pruning a layer saves, and how far it may go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "prune/evolution/budget/channel_time.h"
#include "prune/evolution/budget/cost_curve.h"
#include "prune/evolution/budget/layer_range.h"
#include "prune/evolution/evolution_config.h"
#include "prune/evolution/trainee/trainee.h"

namespace winnow {

// The milliseconds that a budget of time is to come down to. Requires config.time.
double target_ms(const EvolutionConfig& config);

// The cost of a weight is 1 or its multiply-accumulates, and excluded layers cost nothing. With a
// budget of time the cost of a layer is its milliseconds (CostCurve), and excluded layers and what
// is no layer cost a constant.
//
// Where a layer's cost has flat parts (dense is as fast, or faster) pruning gains nothing for a
// while. So above the goal densities follow the convex curves below the costs, along which each
// step gains, but none is at the goal or below unless the costs are.
//
// With channel masks a weight is there while both its output and its input channel are: with k_i
// kept channels of layer i the cost is the sum of c_i k_i + c_ij k_i k_j over ChannelCost. So a
// channel counts with its filters in all layers that share it and with what reads it, once. A
// budget of time counts each layer by the outputs and inputs that it keeps (ChannelTime).
class LayerBudget {
 public:
  // Throws Error{usage} if a name is unknown or given twice, a pattern (layer_names.h) matches no
  // layer, two patterns limit one layer, a layer is inconsistent or begins sparser than its limit,
  // nothing is left to prune, no pruning is needed for target_kept, or the times are missing, of
  // other layers, slower than the target or faster without pruning.
  LayerBudget(const EvolutionConfig& config, const std::vector<PrunableLayer>& layers);

  std::size_t size() const { return layers_.size(); }
  const PrunableLayer& layer(std::size_t i) const { return layers_[i]; }
  const LayerRange& range(std::size_t i) const { return ranges_[i]; }

  // Share of the budget kept when masks keep these weights, [layers]; channel masks: these weights
  // of filters, whatever is kept of their inputs.
  double density(std::span<const std::int64_t> kept_weights) const;

  // The same of weights alone, whatever the budget counts.
  double weight_density(std::span<const std::int64_t> kept_weights) const;

  // Upper bound of density() for masks of these sparsities: every kept block counts in full.
  double planned_density(std::span<const double> sparsities) const;

  // Cost of what layer i keeps at most at this sparsity; with channel masks that of its costs, or
  // of the layers that it is part of, all other layers whole.
  double kept_cost(std::size_t i, double sparsity) const;

  // What layers that are not excluded may cost together at a density of costs.
  double spendable(double density) const { return density * total_cost_ - fixed_cost_; }

  // What `least_loss` adds up of a layer with this curve that keeps so many blocks: loss_of()
  // (magnitude_curve.h) to the power of the configuration's `loss_power`.
  double summed_loss(const MagnitudeCurve& curve, std::int64_t kept) const;

  // The sparsities, or lower ones where they meet the goal and a denser layer costs the same: what
  // lies within a flat part goes to its dense end.
  std::vector<double> densest(std::vector<double> sparsities) const;

  // Weights that layer i keeps at most at this sparsity: every kept block counts in full.
  std::int64_t most_kept(std::size_t i, double sparsity) const;

  // Whether whole channels are counted by time, and then the milliseconds of the layers that unit i
  // is part of, and whether two units are part of one layer.
  bool is_time_of_channels() const { return channel_time_ != nullptr; }
  double unit_ms(std::size_t i, std::span<const std::int64_t> kept_weights) const;
  bool share_layers(std::size_t a, std::size_t b) const {
    return channel_time_->share_layers(a, b);
  }

  // Whether masks keep equally many blocks in every row.
  bool has_balanced_rows() const;

  // Whether every cost is in proportion to what is kept: nothing above is different then.
  bool is_proportional() const { return time_ == nullptr; }

  // What the budget counts: milliseconds of a pass, weights or multiply-accumulates, while masks
  // keep these weights, [layers], or at a density.
  double cost(std::span<const std::int64_t> kept_weights) const;
  double cost_at(double density) const { return density * total_cost_; }

  // The density that the target is, and the least one that planned_density() can reach within the
  // ranges, or the target's if that is more: the density to get down to.
  double target_density() const { return target_density_; }
  double goal_density() const { return goal_density_; }
  double reachable_density() const { return reachable_density_; }

 private:
  void make_curves(const EvolutionConfig& config);
  void make_channel_time();
  double dense_end(std::size_t i, std::vector<std::int64_t> kept) const;
  double target_of(const EvolutionConfig& config) const;
  double kept_target_of(const EvolutionConfig& config) const;
  // Weights, or what they cost, of layer i while `kept` weights are there.
  double weights_of(std::size_t i, std::span<const std::int64_t> kept) const;
  double cost_of(std::size_t i, std::span<const std::int64_t> kept) const;
  std::vector<std::int64_t> most_kept(std::span<const double> sparsities) const;

  std::vector<PrunableLayer> layers_;
  std::vector<LayerRange> ranges_;
  bool by_macs_ = false;
  double loss_power_ = 1.0;
  std::shared_ptr<const TimeModel> time_;            // null without a budget of time
  std::vector<CostCurve> curves_;                    // [layers]; none of channels
  std::shared_ptr<const ChannelTime> channel_time_;  // of channels with a budget of time
  double fixed_cost_ = 0.0;
  double total_cost_ = 0.0;
  double total_weights_ = 0.0;
  double target_density_ = 0.0;
  double goal_density_ = 0.0;
  double reachable_density_ = 0.0;
};

}  // namespace winnow
