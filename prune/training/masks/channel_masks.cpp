#include "prune/training/masks/channel_masks.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "prune/training/masks/group_lasso.h"
#include "prune/training/masks/layer_curves.h"
#include "prune/training/trainability.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

// Channel numbers on the device, fixed ones as `fixed`.
torch::Tensor numbers(std::vector<std::int64_t> channels, std::int64_t fixed,
                      const torch::Device& device) {
  std::replace(channels.begin(), channels.end(), ChannelNode::kFixed, fixed);
  return torch::tensor(channels, torch::kLong).to(device);
}

// The unit that these channels are of; 0 where all are fixed, whose importance nothing reads.
std::size_t unit_with(const ChannelUnits& units, const std::vector<std::int64_t>& channels) {
  const auto free = std::ranges::find_if(channels, [](auto c) { return c != ChannelNode::kFixed; });
  return free == channels.end() ? 0 : units.unit_of(*free);
}

// Along this dimension of a tensor of so many.
torch::Tensor along(const torch::Tensor& channels, std::size_t dimension, std::int64_t dimensions) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(dimensions), 1);
  shape[dimension] = -1;
  return channels.view(shape);
}

}  // namespace

ChannelMasks::ChannelMasks(const Model& model, Learner& learner)
    : PruningMasks(prunable_layers(model, kWholeChannels)), units_(channel_units(model.graph)) {
  const torch::Device device = learner.network().options().device;
  kept_ = torch::ones({units_.channels}, torch::TensorOptions().dtype(torch::kByte).device(device));
  for (const ChannelNode& node : units_.nodes) {
    add(node, learner.network().graph().nodes[node.node], learner);
  }
  join();
  load(model);
}

void ChannelMasks::add(const ChannelNode& node, const Node& layer, Learner& learner) {
  const torch::Device device = kept_.device();
  const torch::Tensor outputs = numbers(node.outputs, units_.channels, device);
  const auto make = [&](const NamedTensor& tensor) {
    Masked masked{.name = tensor.name,
                  .value = tensor.value,
                  .outputs = outputs,
                  .mask = torch::ones_like(tensor.value).detach(),
                  .dropped = torch::zeros_like(tensor.value).detach()};
    const bool is_weight = has_prunable_weight(layer) && tensor.name == weight_name(layer);
    if (is_weight && !node.inputs.empty()) {
      masked.is_filter = true;
      masked.unit = unit_with(units_, node.outputs);
      masked.inputs = numbers(node.inputs, units_.channels, device);
      masked.gradient_sum = torch::zeros_like(tensor.value).detach();
      weights_.push_back(masked.value);
      gradient_sums_.push_back(masked.gradient_sum);
    }
    masked_.push_back(masked.value);
    masks_.push_back(masked.mask);
    dropped_.push_back(masked.dropped);
    all_.push_back(masked);
    return masked.mask;
  };
  const auto& parameters = learner.network().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].node != node.node) continue;
    momentum_masks_.push_back(make(parameters[i]));
    momenta_.push_back(learner.sgd().momenta()[i]);
  }
  for (const NamedTensor& statistic : learner.network().statistics()) {
    if (statistic.node == node.node) make(statistic);
  }
}

void ChannelMasks::load(const Model& model) {
  const std::vector<std::uint8_t> kept = masked_channels(units_, model);
  kept_.copy_(torch::tensor(std::vector<std::int64_t>(kept.begin(), kept.end())));
  for (const Masked& masked : all_) masked.dropped.zero_();
  refresh();
}

void ChannelMasks::store(Model& model) const {
  const torch::Tensor kept = kept_.to(torch::kCPU);
  const auto* bits = kept.const_data_ptr<std::uint8_t>();
  set_channel_masks(units_, {bits, static_cast<std::size_t>(units_.channels)}, model);
}

// Channel numbers of all tensors in a row, and what ranks.
void ChannelMasks::join() {
  Tensors outputs;
  std::vector<RankedFilters> filters;
  for (const Masked& masked : all_) {
    outputs.push_back(masked.outputs);
    output_counts_.push_back(masked.outputs.numel());
    if (!masked.is_filter) continue;
    input_counts_.push_back(masked.inputs.numel());
    filters.push_back({.value = masked.value,
                       .dropped = masked.dropped,
                       .gradient_sum = masked.gradient_sum,
                       .outputs = masked.outputs,
                       .inputs = masked.inputs,
                       .unit = masked.unit});
  }
  outputs_ = torch::cat(outputs);
  ranking_ = ChannelRanking(units_, std::move(filters));
}

// Of each tensor what the channels keep of it.
void ChannelMasks::set_masks() {
  const torch::Tensor kept = with_fixed(kept_).to(torch::kFloat);
  const Tensors outputs = kept.index_select(0, outputs_).split_with_sizes(output_counts_);
  const Tensors inputs = kept.index_select(0, ranking_.inputs()).split_with_sizes(input_counts_);
  std::size_t filters = 0;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    torch::Tensor mask = all_[i].mask;
    mask.copy_(along(outputs[i], 0, mask.dim()).expand_as(mask));
    if (all_[i].is_filter) mask.mul_(along(inputs[filters++], 1, mask.dim()));
  }
}

void ChannelMasks::refresh() {
  const torch::NoGradGuard no_grad;
  set_masks();
  mask_weights();
  torch::_foreach_mul_(momenta_, momentum_masks_);
}

// What leaves is remembered, what enters is what it was: of a weight the network or `dropped` has
// 0, so that their sum is exact.
void ChannelMasks::choose(const Tensors& choice) {
  const torch::NoGradGuard no_grad;
  mask_weights();
  const Tensors all = torch::_foreach_add(masked_, dropped_);
  kept_.copy_(choice[0]);
  torch::_foreach_copy_(masked_, all);
  refresh();
  torch::_foreach_copy_(dropped_, all);
  torch::_foreach_sub_(dropped_, masked_);
}

std::vector<Migration> ChannelMasks::recompute(std::span<const double> sparsities,
                                               std::span<const double> alphas) {
  const torch::NoGradGuard no_grad;
  return choose_channels(ranking_.top_channels(ranking_.ranking(kept_, alphas), sparsities));
}

std::vector<Migration> ChannelMasks::choose_channels(const torch::Tensor& kept) {
  const torch::Tensor counts = ranking_.counts(kept_, kept);
  choose({kept});
  return to_migrations(counts);
}

// Of all filters of a channel together, [channels] in float.
torch::Tensor ChannelMasks::norms() const {
  torch::Tensor squares = torch::zeros({units_.channels + 1}, kept_.options().dtype(torch::kFloat));
  for (const Masked& masked : all_) {
    if (masked.is_filter)
      squares.index_add_(0, masked.outputs, filter_norms(masked.value).square());
  }
  return squares.narrow(0, 0, units_.channels).sqrt();
}

std::vector<GroupNorms> ChannelMasks::group_norms() const {
  const torch::NoGradGuard no_grad;
  const std::vector<double> all = to_doubles(norms());
  std::vector<GroupNorms> by_unit;
  for (std::size_t u = 0; u < layers_.size(); ++u) {
    const auto first = all.begin() + units_.first[u];
    by_unit.push_back({.filters = {first, first + layers_[u].blocks}});
  }
  return by_unit;
}

std::vector<Migration> ChannelMasks::keep_groups(std::span<const KeptGroups> kept) {
  const torch::NoGradGuard no_grad;
  std::vector<std::int64_t> bits;
  for (const KeptGroups& unit : kept)
    bits.insert(bits.end(), unit.filters.begin(), unit.filters.end());
  return choose_channels(torch::tensor(bits, torch::kLong).to(kept_.options()) * kept_);
}

void ChannelMasks::shrink_groups(const GroupPenalty& penalty, double rate) const {
  if (penalty.stage != GroupStage::between_channels) return;
  const torch::NoGradGuard no_grad;
  std::vector<double> by_unit;
  for (std::size_t u = 0; u < layers_.size(); ++u) {
    const auto filters = static_cast<double>(layers_[u].weights_per_block);
    by_unit.push_back(rate * penalty.strengths[u] * std::sqrt(filters));
  }
  const torch::Tensor norm = norms();
  const torch::Tensor threshold = torch::tensor(by_unit, torch::kDouble)
                                      .to(norm.options())
                                      .index_select(0, ranking_.unit_of_channel());
  const torch::Tensor largest =
      torch::zeros({static_cast<std::int64_t>(layers_.size())}, norm.options())
          .scatter_reduce(0, ranking_.unit_of_channel(), norm, "amax")
          .index_select(0, ranking_.unit_of_channel());
  const torch::Tensor factor = with_fixed(shrinkage(norm, threshold, largest));
  for (const Masked& masked : all_) {
    if (!masked.is_filter) continue;
    const torch::Tensor of_outputs = factor.index_select(0, masked.outputs);
    torch::Tensor(masked.value).mul_(along(of_outputs, 0, masked.value.dim()));
  }
}

std::vector<MagnitudeCurve> ChannelMasks::magnitude_curves() const {
  const torch::NoGradGuard no_grad;
  const torch::Tensor magnitudes = ranking_.importance(kept_, {}).unsqueeze(1);
  std::vector<WeightBlocks> units;
  for (std::size_t u = 0; u < layers_.size(); ++u) {
    units.push_back({magnitudes.narrow(0, units_.first[u], layers_[u].blocks)});
  }
  return winnow::magnitude_curves(units);
}

PruningMasks::NamedTensors ChannelMasks::state() const {
  NamedTensors all = {{"channels.kept", kept_}};
  for (const Masked& masked : all_) {
    all.emplace_back(masked.name + ".dropped", masked.dropped);
    if (masked.is_filter) all.emplace_back(masked.name + ".gradient", masked.gradient_sum);
  }
  return all;
}

}  // namespace winnow
