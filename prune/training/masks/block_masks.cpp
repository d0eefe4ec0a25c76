#include "prune/training/masks/block_masks.h"

#include <torch/types.h>

#include <map>
#include <string>

#include "prune/training/masks/group_lasso.h"
#include "prune/training/masks/layer_curves.h"
#include "prune/training/masks/mask_selection.h"
#include "prune/training/tensor_bridge.h"
#include "prune/training/trainability.h"
#include "runtime/base/error.h"
#include "runtime/model/channel_classes.h"
#include "runtime/model/weight_parts.h"

namespace winnow {

BlockMasks::BlockMasks(const Model& model, Learner& learner, const MaskOptions& options)
    : PruningMasks(with_rows(prunable_layers(model, options.vectors), options.row_balance)),
      options_(options) {
  find_layers(learner);
  for (const MaskedLayer& layer : masked_layers_) {
    masked_.push_back(layer.weight);
    momenta_.push_back(layer.momentum);
    masks_.push_back(layer.mask);
    weights_.push_back(layer.weight);
    if (options.uses_gradients) gradient_sums_.push_back(layer.gradient_sum);
    if (options.uses_fisher) squares_.push_back(layer.square);
    if (options.feedback) dense_.push_back(layer.dense);
  }
  momentum_masks_ = masks_;
  feedback_decay_ = options.feedback_decay;
  find_groups(model.graph);
  load(model);
}

void BlockMasks::find_layers(Learner& learner) {
  const Graph& graph = learner.network().graph();
  for (std::size_t i = 0; i < learner.network().parameters().size(); ++i) {
    const NamedTensor& parameter = learner.network().parameters()[i];
    const Node& node = graph.nodes[parameter.node];
    if (!has_prunable_weight(node) || parameter.name != weight_name(node)) continue;
    const std::int64_t vector = options_.vectors[masked_layers_.size()];
    masked_layers_.push_back(
        MaskedLayer::whole(node.name, vector, parameter.value, learner.sgd().momenta()[i]));
    MaskedLayer& layer = masked_layers_.back();
    if (options_.uses_gradients) layer.gradient_sum = torch::zeros_like(layer.weight).detach();
    if (options_.uses_fisher) layer.square = torch::zeros_like(layer.weight).detach();
    if (options_.feedback) layer.dense = torch::zeros_like(layer.weight).detach();
  }
}

// A layer whose outputs, or inputs, are fixed has no groups of that kind.
void BlockMasks::find_groups(const Graph& graph) {
  std::map<std::string, MaskedLayer*> by_name;
  for (MaskedLayer& layer : masked_layers_) by_name[layer.node] = &layer;
  for (const ChannelClass& one : channel_classes(graph)) {
    if (one.is_fixed) continue;
    for (const ChannelUse& use : one.producers) {
      by_name.at(graph.nodes[use.node].name)->can_lose_filters = true;
    }
    for (const ChannelUse& use : one.readers) {
      by_name.at(graph.nodes[use.node].name)->can_lose_channels = true;
    }
  }
}

// Applies masks to weights and momenta; with feedback weights come from the dense ones, and momenta
// stay.
void BlockMasks::set_masks(const Tensors& masks) {
  if (masked_layers_.empty()) return;
  for (std::size_t i = 0; i < masked_layers_.size(); ++i) masked_layers_[i].set_mask(masks[i]);
  const torch::NoGradGuard no_grad;
  if (!dense_.empty()) torch::_foreach_copy_(masked_, dense_);
  mask_weights();
  if (dense_.empty()) torch::_foreach_mul_(momenta_, momentum_masks_);
}

PruningMasks::Tensors BlockMasks::current_masks() const {
  Tensors masks;
  for (const MaskedLayer& layer : masked_layers_) masks.push_back(layer.block_mask);
  return masks;
}

torch::Tensor BlockMasks::migrations_from(const Tensors& masks_before) const {
  Tensors counts;
  for (std::size_t i = 0; i < masked_layers_.size(); ++i) {
    counts.push_back(masked_layers_[i].migration_from(masks_before[i]));
  }
  return torch::stack(counts);
}

void BlockMasks::load(const Model& model) {
  const torch::NoGradGuard no_grad;
  Tensors masks;
  for (MaskedLayer& layer : masked_layers_) {
    if (layer.dense.defined()) layer.dense.copy_(layer.weight);
    torch::Tensor mask = torch::ones_like(layer.block_mask);
    if (const auto found = model.tensors.find(layer.node + ".weight.mask");
        found != model.tensors.end()) {
      mask = to_torch(found->second, layer.weight.device());
      if (mask.sizes() != layer.block_mask.sizes()) {
        fail(ErrorCode::usage, "layer '", layer.node, "': its mask has another granularity than ",
             layer.vector, " channels");
      }
    }
    masks.push_back(mask);
  }
  set_masks(masks);
}

void BlockMasks::store(Model& model) const {
  for (const MaskedLayer& layer : masked_layers_) {
    const std::string name = layer.node + ".weight.mask";
    model.tensors.erase(name);
    model.mask_vector.erase(layer.node);
    if (layer.block_mask.all().item<bool>()) continue;
    model.tensors[name] = to_host(layer.block_mask);
    model.mask_vector[layer.node] = static_cast<int>(layer.vector);
  }
}

MaskChoice BlockMasks::chosen(const Tensors& importances,
                              std::span<const double> sparsities) const {
  if (!options_.row_balance) {
    return top_blocks_of_layers(masked_layers_, importances, sparsities, options_.fuses_kernels);
  }
  MaskChoice choice;
  for (std::size_t i = 0; i < importances.size(); ++i) {
    choice.masks.push_back(top_blocks_of_rows(importances[i], sparsities[i]));
  }
  return choice;
}

std::vector<Migration> BlockMasks::recompute(std::span<const double> sparsities,
                                             std::span<const double> alphas) {
  const double largest = alphas.empty() ? 0.0 : std::ranges::max(alphas);
  if (largest > 0.0 && !options_.uses_gradients) {
    fail(ErrorCode::internal, "masks: an alpha is ", largest, ", and no gradients were summed");
  }
  const MaskChoice choice =
      chosen(importances_of_layers(masked_layers_, alphas, options_.fuses_kernels), sparsities);
  const Tensors before = current_masks();
  set_masks(choice.masks);
  return to_migrations(choice.migrations.defined() ? choice.migrations : migrations_from(before));
}

std::vector<MagnitudeCurve> BlockMasks::magnitude_curves() const {
  return curves_of_layers(masked_layers_, options_.fuses_kernels);
}

std::vector<GroupNorms> BlockMasks::group_norms() const {
  std::vector<GroupNorms> norms;
  for (const MaskedLayer& layer : masked_layers_) {
    GroupNorms& of_layer = norms.emplace_back();
    if (layer.can_lose_filters) of_layer.filters = to_doubles(filter_norms(layer.weight));
    of_layer.shapes = to_doubles(shape_norms(layer.weight));
  }
  return norms;
}

std::vector<Migration> BlockMasks::keep_groups(std::span<const KeptGroups> kept) {
  const Tensors masks_before = current_masks();
  Tensors masks;
  for (std::size_t i = 0; i < masked_layers_.size(); ++i) {
    const torch::Tensor& before = masks_before[i];
    const auto bits = [&](const std::vector<std::uint8_t>& groups) {
      const std::vector<std::int64_t> wide(groups.begin(), groups.end());
      return torch::tensor(wide, torch::kLong).to(before.options());
    };
    torch::Tensor mask = before.flatten(1) * bits(kept[i].shapes).unsqueeze(0);
    if (!kept[i].filters.empty()) mask = mask * bits(kept[i].filters).unsqueeze(1);
    masks.push_back(mask.view(before.sizes()));
  }
  set_masks(masks);
  for (MaskedLayer& layer : masked_layers_) layer.count_groups();
  return to_migrations(migrations_from(masks_before));
}

void BlockMasks::shrink_groups(const GroupPenalty& penalty, double rate) const {
  if (penalty.stage == GroupStage::none) return;
  for (std::size_t i = 0; i < masked_layers_.size(); ++i) {
    const MaskedLayer& layer = masked_layers_[i];
    const double strength = rate * penalty.strengths[i];
    if (strength <= 0) continue;
    if (penalty.stage == GroupStage::within_channels) {
      shrink(layer.weight, GroupKind::shapes, strength, layer.shape_size);
      continue;
    }
    if (layer.can_lose_filters) {
      shrink(layer.weight, GroupKind::filters, strength, layer.filter_size);
    }
    if (layer.can_lose_channels) {
      shrink(layer.weight, GroupKind::channels, strength, layer.channel_size);
    }
  }
}

PruningMasks::NamedTensors BlockMasks::state() const {
  NamedTensors all;
  for (const MaskedLayer& layer : masked_layers_) {
    all.emplace_back(layer.node + ".weight.mask", layer.block_mask);
    if (layer.gradient_sum.defined()) {
      all.emplace_back(layer.node + ".weight.gradient", layer.gradient_sum);
    }
    if (layer.square.defined()) all.emplace_back(layer.node + ".weight.square", layer.square);
    if (layer.dense.defined()) all.emplace_back(layer.node + ".weight.dense", layer.dense);
  }
  return all;
}

void BlockMasks::refresh() {
  set_masks(current_masks());
}

PruningMasks::Tensors BlockMasks::choice() const {
  Tensors masks;
  for (const MaskedLayer& layer : masked_layers_) masks.push_back(layer.block_mask.clone());
  return masks;
}

void BlockMasks::choose(const Tensors& choice) {
  set_masks(choice);
}

}  // namespace winnow
