// How channels rank, and which of them masks keep. All layers together, in few operations: on a
// GPU each is a launch, and there are masks every few batches.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "prune/training/channels/channel_units.h"

namespace winnow {

// Filters of one layer; tensors are the network's own and its masks'.
struct RankedFilters {
  torch::Tensor value;         // [K, C, ...], 0 where masks drop it
  torch::Tensor dropped;       // as `value`: what it was where masks drop it, else 0
  torch::Tensor gradient_sum;  // as `value`
  torch::Tensor outputs;       // [K] channels, ChannelUnits::channels where one is fixed
  torch::Tensor inputs;        // [C] likewise
  std::size_t unit = 0;        // of the outputs that are not fixed
};

// Of each channel a value, [channels], and behind them 1, that of all that are fixed.
torch::Tensor with_fixed(const torch::Tensor& channels);

class ChannelRanking {
 public:
  ChannelRanking() = default;
  // At least one layer computes each channel. All tensors are on one device.
  ChannelRanking(const ChannelUnits& units, std::vector<RankedFilters> filters);

  // [channels]
  const torch::Tensor& unit_of_channel() const { return unit_of_channel_; }

  // Those of the filters of all layers, in a row.
  const torch::Tensor& inputs() const { return inputs_; }

  // f64 [channels], 0 of channels that `kept`, u8 [channels], drops. Of a filter: the mean over its
  // weights that read kept channels of alpha |grad| + (1 - alpha) |w|, each normalised by its mean
  // over the layer (eq 2). Of a channel: the mean over the layers that compute it. `alphas` has one
  // per unit, or is empty for 0.
  torch::Tensor importance(const torch::Tensor& kept, std::span<const double> alphas) const;

  // The same, and behind all channels that are kept the others, in the order of what they were.
  torch::Tensor ranking(const torch::Tensor& kept, std::span<const double> alphas) const;

  // Eq 3, u8 [channels]: of each unit the kept_blocks() that rank first (importance.h). Of equals
  // the lower index stays. A NaN ranks last.
  torch::Tensor top_channels(const torch::Tensor& ranking,
                             std::span<const double> sparsities) const;

  // int64 [units, 4] as to_migrations() takes them, of masks before and now, u8 [channels].
  torch::Tensor counts(const torch::Tensor& before, const torch::Tensor& now) const;

 private:
  torch::Tensor kept_per_filter(const torch::Tensor& kept) const;
  torch::Tensor size_sums(bool is_dropped) const;
  torch::Tensor importance_sums(std::span<const double> alphas) const;
  torch::Tensor by_channel(const torch::Tensor& rows) const;

  std::vector<RankedFilters> filters_;
  std::vector<std::int64_t> blocks_;  // of units
  std::int64_t channels_ = 0;
  torch::Tensor unit_of_channel_, place_in_unit_;      // [channels]
  torch::Tensor weights_per_block_;                    // [units]
  torch::Tensor layer_of_row_;                         // of the filters of all layers
  torch::Tensor inputs_, layer_of_input_;              // of all layers
  torch::Tensor weights_per_input_, weights_per_row_;  // f64 [layers]: of a filter
  torch::Tensor layers_of_channel_;                    // f64 [channels]: how many compute it
};

}  // namespace winnow
