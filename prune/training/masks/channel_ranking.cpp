#include "prune/training/masks/channel_ranking.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "prune/evolution/trainee/importance.h"
#include "prune/training/masks/mask_selection.h"

namespace winnow {
namespace {

using Tensors = std::vector<torch::Tensor>;
using Numbers = std::vector<std::int64_t>;

std::vector<std::int64_t> dimensions_of_a_filter(const torch::Tensor& filters) {
  std::vector<std::int64_t> dimensions(static_cast<std::size_t>(filters.dim() - 1));
  std::iota(dimensions.begin(), dimensions.end(), std::int64_t{1});
  return dimensions;
}

// Of each filter the sum of |w|, f64 [K].
torch::Tensor sums_of_sizes(const torch::Tensor& filters) {
  return torch::linalg_vector_norm(filters, 1, dimensions_of_a_filter(filters), false,
                                   torch::kDouble);
}

torch::Tensor count_of_nonzero(const torch::Tensor& filters) {
  return torch::linalg_vector_norm(filters, 0, std::nullopt, false, torch::kDouble);
}

// 1 / mean, or 0 where the mean is 0.
torch::Tensor reciprocal_or_0(const torch::Tensor& means) {
  return torch::where(means > 0, means.reciprocal(), 0.0);
}

}  // namespace

torch::Tensor with_fixed(const torch::Tensor& channels) {
  return torch::cat({channels, torch::ones({1}, channels.options())});
}

ChannelRanking::ChannelRanking(const ChannelUnits& units, std::vector<RankedFilters> filters)
    : filters_(std::move(filters)), channels_(units.channels) {
  const torch::Device device = filters_.front().value.device();
  const auto on_device = [&](const Numbers& numbers) {
    return torch::tensor(numbers, torch::kLong).to(device);
  };
  Numbers unit_of_channel, place_in_unit, weights_per_block;
  for (std::size_t u = 0; u < units.layers.size(); ++u) {
    const PrunableLayer& unit = units.layers[u];
    blocks_.push_back(unit.blocks);
    weights_per_block.push_back(unit.weights_per_block);
    for (std::int64_t place = 0; place < unit.blocks; ++place) {
      unit_of_channel.push_back(static_cast<std::int64_t>(u));
      place_in_unit.push_back(place);
    }
  }
  Numbers layer_of_row, layer_of_input, weights_per_input, weights_per_row;
  Tensors inputs;
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    const torch::Tensor& value = filters_[i].value;
    const auto layer = static_cast<std::int64_t>(i);
    layer_of_row.insert(layer_of_row.end(), static_cast<std::size_t>(value.size(0)), layer);
    layer_of_input.insert(layer_of_input.end(), static_cast<std::size_t>(value.size(1)), layer);
    weights_per_row.push_back(value.numel() / value.size(0));
    weights_per_input.push_back(weights_per_row.back() / value.size(1));
    inputs.push_back(filters_[i].inputs);
  }
  unit_of_channel_ = on_device(unit_of_channel);
  place_in_unit_ = on_device(place_in_unit);
  weights_per_block_ = on_device(weights_per_block);
  layer_of_row_ = on_device(layer_of_row);
  layer_of_input_ = on_device(layer_of_input);
  weights_per_row_ = on_device(weights_per_row).to(torch::kDouble);
  weights_per_input_ = on_device(weights_per_input).to(torch::kDouble);
  inputs_ = torch::cat(inputs);
  // by_channel() divides by it: at first by 1.
  layers_of_channel_ = torch::ones({channels_}, weights_per_row_.options());
  layers_of_channel_ = by_channel(torch::ones({layer_of_row_.numel()}, weights_per_row_.options()));
}

// Of one layer after the other: no two filters of a layer compute one channel, so that sums have
// one order. Channels that are fixed share the last place, which nothing reads.
torch::Tensor ChannelRanking::by_channel(const torch::Tensor& rows) const {
  const torch::Tensor sum = torch::zeros({channels_ + 1}, rows.options());
  std::int64_t first = 0;
  for (const RankedFilters& layer : filters_) {
    const std::int64_t count = layer.outputs.numel();
    sum.index_add_(0, layer.outputs, rows.narrow(0, first, count));
    first += count;
  }
  return sum.narrow(0, 0, channels_) / layers_of_channel_;
}

// Weights that the masks keep of a filter that is kept, [layers].
torch::Tensor ChannelRanking::kept_per_filter(const torch::Tensor& kept) const {
  const torch::Tensor inputs = with_fixed(kept).to(torch::kDouble).index_select(0, inputs_);
  const torch::Tensor counts = torch::zeros_like(weights_per_input_);
  return (counts.index_add_(0, layer_of_input_, inputs) * weights_per_input_).clamp_min(1);
}

// Eq 2 with alpha 0, summed over each filter: of the network's weights, or of those that were.
torch::Tensor ChannelRanking::size_sums(bool is_dropped) const {
  Tensors rows, sums, counts;
  for (const RankedFilters& layer : filters_) {
    const torch::Tensor values = (is_dropped ? layer.dropped : layer.value).detach();
    rows.push_back(sums_of_sizes(values));
    sums.push_back(rows.back().sum());
    counts.push_back(count_of_nonzero(values));
  }
  const torch::Tensor means = torch::stack(sums) / torch::stack(counts).clamp_min(1);
  return torch::cat(rows) * reciprocal_or_0(means).index_select(0, layer_of_row_);
}

torch::Tensor ChannelRanking::importance_sums(std::span<const double> alphas) const {
  if (std::ranges::all_of(alphas, [](double alpha) { return alpha == 0.0; })) {
    return size_sums(false);
  }
  Tensors rows;
  for (const RankedFilters& layer : filters_) {
    rows.push_back(block_importance(layer.value, layer.gradient_sum, 1, alphas[layer.unit])
                       .flatten(1)
                       .sum(1, false, torch::kDouble));
  }
  return torch::cat(rows);
}

torch::Tensor ChannelRanking::importance(const torch::Tensor& kept,
                                         std::span<const double> alphas) const {
  const torch::Tensor counts = kept_per_filter(kept).index_select(0, layer_of_row_);
  return by_channel(importance_sums(alphas) / counts);
}

torch::Tensor ChannelRanking::ranking(const torch::Tensor& kept,
                                      std::span<const double> alphas) const {
  const torch::Tensor were =
      by_channel(size_sums(true) / weights_per_row_.index_select(0, layer_of_row_));
  return torch::where(kept.to(torch::kBool), importance(kept, alphas), -1 / (1 + were));
}

// Sorted by rank and then, stably, by unit, a unit's channels have the places of their numbers.
torch::Tensor ChannelRanking::top_channels(const torch::Tensor& ranking,
                                           std::span<const double> sparsities) const {
  Numbers counts;
  for (std::size_t u = 0; u < blocks_.size(); ++u) {
    counts.push_back(kept_blocks(blocks_[u], sparsities[u]));
  }
  const auto order_of = [](const torch::Tensor& values, bool descending) {
    return std::get<1>(values.sort(/*stable=*/true, /*dim=*/0, descending));
  };
  const torch::Tensor by_rank = order_of(ranking.nan_to_num(-1.0), true);
  const torch::Tensor by_unit = order_of(unit_of_channel_.index_select(0, by_rank), false);
  const torch::Tensor count_of_unit =
      torch::tensor(counts, torch::kLong).to(unit_of_channel_.device());
  const torch::Tensor is_kept = place_in_unit_ < count_of_unit.index_select(0, unit_of_channel_);
  return torch::zeros_like(unit_of_channel_, torch::kByte)
      .scatter_(0, by_rank.index_select(0, by_unit), is_kept.to(torch::kByte));
}

torch::Tensor ChannelRanking::counts(const torch::Tensor& before, const torch::Tensor& now) const {
  const torch::Tensor is = now.to(torch::kBool), was = before.to(torch::kBool);
  const torch::Tensor found = torch::stack({is & ~was, was & ~is, is}, 1).to(torch::kLong);
  const torch::Tensor counts =
      torch::zeros({weights_per_block_.numel(), found.size(1)}, found.options())
          .index_add_(0, unit_of_channel_, found);
  return torch::cat({counts, (counts.select(1, 2) * weights_per_block_).unsqueeze(1)}, 1);
}

}  // namespace winnow
