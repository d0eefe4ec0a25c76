#include "prune/training/masks/channel_masks.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "prune/training/masks/group_lasso.h"
#include "prune/training/masks/layer_curves.h"
#include "prune/training/masks/mask_selection.h"
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

// Sums of rows over the weights that the mask keeps of a row that is kept.
torch::Tensor mean_of_rows(const torch::Tensor& values, const torch::Tensor& mask) {
  const torch::Tensor kept = mask.flatten(1).sum(1).max().clamp_min(1);
  return values.flatten(1).to(torch::kDouble).sum(1) / kept.to(torch::kDouble);
}

}  // namespace

ChannelMasks::ChannelMasks(const Model& model, Learner& learner)
    : PruningMasks(prunable_layers(model, kWholeChannels)), units_(channel_units(model.graph)) {
  const torch::Device device = learner.network().options().device;
  kept_ = torch::ones({units_.channels}, torch::TensorOptions().dtype(torch::kByte).device(device));
  for (const ChannelNode& node : units_.nodes) {
    add(node, learner.network().graph().nodes[node.node], learner);
  }
  std::vector<std::int64_t> unit_of_channel;
  for (std::size_t u = 0; u < layers_.size(); ++u) {
    unit_of_channel.insert(unit_of_channel.end(), static_cast<std::size_t>(layers_[u].blocks),
                           static_cast<std::int64_t>(u));
  }
  unit_of_channel_ = torch::tensor(unit_of_channel, torch::kLong).to(device);
  std::vector<torch::Tensor> ones;
  layers_of_channel_ = torch::ones({units_.channels}, kept_.options().dtype(torch::kDouble));
  for (const Masked& masked : all_) {
    if (masked.is_filter) {
      ones.push_back(torch::ones(masked.outputs.sizes(), layers_of_channel_.options()));
    }
  }
  layers_of_channel_ = by_channel(ones);
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

torch::Tensor ChannelMasks::mask_of(const Masked& masked) const {
  const torch::Tensor kept = torch::cat({kept_, torch::ones({1}, kept_.options())});
  std::vector<std::int64_t> shape(static_cast<std::size_t>(masked.value.dim()), 1);
  shape[0] = -1;
  torch::Tensor mask = kept.index_select(0, masked.outputs).view(shape);
  if (masked.inputs.defined()) {
    std::swap(shape[0], shape[1]);
    mask = mask * kept.index_select(0, masked.inputs).view(shape);
  }
  return mask.expand_as(masked.value).to(torch::kBool);
}

void ChannelMasks::refresh() {
  const torch::NoGradGuard no_grad;
  for (const Masked& masked : all_) masked.mask.copy_(mask_of(masked));
  mask_weights();
  torch::_foreach_mul_(momenta_, momentum_masks_);
}

// What leaves is remembered, what enters is what it was.
void ChannelMasks::choose(const Tensors& choice) {
  const torch::NoGradGuard no_grad;
  kept_.copy_(choice[0]);
  const torch::Tensor zero = torch::zeros({}, layers_of_channel_.options().dtype(torch::kFloat));
  for (const Masked& masked : all_) {
    const torch::Tensor is = mask_of(masked);
    const torch::Tensor was = masked.mask.to(torch::kBool);
    const torch::Tensor value = torch::where(is & ~was, masked.dropped, masked.value);
    masked.dropped.copy_(
        torch::where(was & ~is, masked.value, torch::where(is, zero, masked.dropped)));
    masked.value.copy_(value);
  }
  refresh();
}

// The mean over the layers that compute a channel of `rows`, which are [K] of each filter.
torch::Tensor ChannelMasks::by_channel(const std::vector<torch::Tensor>& rows) const {
  torch::Tensor sum = torch::zeros({units_.channels + 1}, layers_of_channel_.options());
  std::size_t next = 0;
  for (const Masked& masked : all_) {
    if (masked.is_filter) sum.index_add_(0, masked.outputs, rows[next++]);
  }
  return sum.narrow(0, 0, units_.channels) / layers_of_channel_;
}

// Of channels that are kept; 0 for others.
torch::Tensor ChannelMasks::importance(std::span<const double> alphas) const {
  std::vector<torch::Tensor> rows;
  for (const Masked& masked : all_) {
    if (!masked.is_filter) continue;
    const double alpha = alphas.empty() ? 0.0 : alphas[masked.unit];
    const torch::Tensor blocks = block_importance(masked.value, masked.gradient_sum, 1, alpha);
    rows.push_back(mean_of_rows(blocks, masked.mask));
  }
  return by_channel(rows);
}

// Behind all that are kept those that are dropped, by what they were.
torch::Tensor ChannelMasks::ranking(std::span<const double> alphas) const {
  std::vector<torch::Tensor> rows;
  for (const Masked& masked : all_) {
    if (!masked.is_filter) continue;
    const torch::Tensor blocks = block_importance(masked.dropped, {}, 1, 0.0);
    rows.push_back(mean_of_rows(blocks, torch::ones_like(masked.mask)));
  }
  return torch::where(kept_.to(torch::kBool), importance(alphas), -1 / (1 + by_channel(rows)));
}

std::vector<Migration> ChannelMasks::recompute(std::span<const double> sparsities,
                                               std::span<const double> alphas) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor order = ranking(alphas);
  std::vector<torch::Tensor> parts;
  for (std::size_t u = 0; u < layers_.size(); ++u) {
    parts.push_back(top_blocks(order.narrow(0, units_.first[u], layers_[u].blocks), sparsities[u]));
  }
  return choose_channels(torch::cat(parts));
}

std::vector<Migration> ChannelMasks::choose_channels(const torch::Tensor& kept) {
  std::vector<torch::Tensor> counts;
  for (std::size_t u = 0; u < layers_.size(); ++u) {
    const auto of_unit = [&](const torch::Tensor& all) {
      return all.narrow(0, units_.first[u], layers_[u].blocks).to(torch::kBool);
    };
    const torch::Tensor is = of_unit(kept), was = of_unit(kept_);
    counts.push_back(torch::stack(
        {(is & ~was).sum(), (was & ~is).sum(), is.sum(), is.sum() * layers_[u].weights_per_block}));
  }
  choose({kept});
  return to_migrations(torch::stack(counts));
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
  const torch::Tensor threshold =
      torch::tensor(by_unit, torch::kDouble).to(norm.options()).index_select(0, unit_of_channel_);
  const torch::Tensor largest =
      torch::zeros({static_cast<std::int64_t>(layers_.size())}, norm.options())
          .scatter_reduce(0, unit_of_channel_, norm, "amax")
          .index_select(0, unit_of_channel_);
  const torch::Tensor factor =
      torch::cat({shrinkage(norm, threshold, largest), torch::ones({1}, norm.options())});
  for (const Masked& masked : all_) {
    if (!masked.is_filter) continue;
    std::vector<std::int64_t> shape(static_cast<std::size_t>(masked.value.dim()), 1);
    shape[0] = -1;
    torch::Tensor(masked.value).mul_(factor.index_select(0, masked.outputs).view(shape));
  }
}

std::vector<MagnitudeCurve> ChannelMasks::magnitude_curves() const {
  const torch::NoGradGuard no_grad;
  const torch::Tensor magnitudes = importance({}).unsqueeze(1);
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
