#include "prune/training/channels/channel_permutation.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "prune/training/channels/channel_groups.h"
#include "runtime/model/tensor_slices.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

using Indices = std::vector<std::int64_t>;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// Channels [first, last) of a unit that layer `node` computes all and alone.
bool computes(const ChannelNode& node, const Node& layer, std::int64_t first, std::int64_t last) {
  if (node.inputs.empty() || !has_prunable_weight(layer)) return false;
  return node.outputs.front() == first && node.outputs.back() == last - 1 &&
         std::ssize(node.outputs) == last - first;
}

bool computes_some(const ChannelNode& node, const Node& layer, std::int64_t first,
                   std::int64_t last) {
  if (node.inputs.empty() || !has_prunable_weight(layer)) return false;
  return std::any_of(node.outputs.begin(), node.outputs.end(),
                     [&](std::int64_t channel) { return channel >= first && channel < last; });
}

std::vector<float> squares_of(const Model& model, const Node& layer) {
  const auto weights = model.tensors.at(weight_name(layer)).values<float>();
  std::vector<float> squares(weights.begin(), weights.end());
  for (float& value : squares) value *= value;
  return squares;
}

// The order of channels [first, last), counted from `first`.
Indices unit_order(const ChannelUnits& units, const Model& model,
                   std::span<const LayerMasks> layers, std::int64_t first, std::int64_t last) {
  std::vector<ComputedChannels> computed;
  std::int64_t vector = 1;
  for (const ChannelNode& node : units.nodes) {
    const Node& layer = model.graph.nodes[node.node];
    if (!computes_some(node, layer, first, last)) continue;
    if (!computes(node, layer, first, last)) return {};
    const auto masks = std::find_if(layers.begin(), layers.end(),
                                    [&](const LayerMasks& one) { return one.name == layer.name; });
    if (masks == layers.end() || masks->vector == 1 || masks->density >= 1.0) continue;
    vector = std::max(vector, masks->vector);
    computed.push_back({squares_of(model, layer), masks->density});
  }
  if (computed.empty()) return {};
  return grouped_order(computed, last - first, vector);
}

// [places]: the old place of what comes to each. A channel that has several places of a node, as
// the pixels of a flattened map, keeps their order.
Indices moves_of(const Indices& channels, std::span<const std::int64_t> order) {
  std::map<std::int64_t, Indices> places;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    places[channels[i]].push_back(static_cast<std::int64_t>(i));
  }
  std::map<std::int64_t, std::size_t> seen;
  Indices moves;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const std::int64_t channel = channels[i];
    moves.push_back(channel == ChannelNode::kFixed
                        ? static_cast<std::int64_t>(i)
                        : places.at(order[at(channel)])[seen[channel]++]);
  }
  return moves;
}

void permute_node(const ChannelNode& node, std::span<const std::int64_t> order, Model& model) {
  const Node& layer = model.graph.nodes[node.node];
  const auto move = [&](const std::string& name, std::size_t dimension, const Indices& moves) {
    Tensor& tensor = model.tensors.at(name);
    tensor = taken_slices(tensor, dimension, moves);
  };
  const Indices rows = moves_of(node.outputs, order);
  for (const Parameter& parameter : parameters_of(layer)) move(parameter.name, 0, rows);
  if (!node.inputs.empty()) move(weight_name(layer), 1, moves_of(node.inputs, order));
}

}  // namespace

Indices permutation_for(const ChannelUnits& units, const Model& model,
                        std::span<const LayerMasks> layers) {
  Indices order(at(units.channels));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t u = 0; u < units.layers.size(); ++u) {
    const std::int64_t first = units.first[u], last = first + units.layers[u].blocks;
    const Indices own = unit_order(units, model, layers, first, last);
    for (std::size_t i = 0; i < own.size(); ++i) order[at(first) + i] = first + own[i];
  }
  return order;
}

void permute_channels(const ChannelUnits& units, std::span<const std::int64_t> order,
                      Model& model) {
  for (const ChannelNode& node : units.nodes) permute_node(node, order, model);
}

}  // namespace winnow
