#include "prune/training/channels/channel_units.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "runtime/base/error.h"
#include "runtime/model/channel_classes.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

using Indices = std::vector<std::size_t>;

Indices nodes_of(const std::vector<ChannelUse>& uses) {
  Indices nodes;
  for (const ChannelUse& use : uses) nodes.push_back(use.node);
  return nodes;
}

// Puts classes with the same layers into units, and numbers their channels.
class UnitMaker {
 public:
  explicit UnitMaker(const Graph& graph) : graph_(graph), shapes_(infer_shapes(graph, 1)) {
    for (const ChannelClass& one : channel_classes(graph)) {
      if (!one.is_fixed && !one.producers.empty()) place(one);
    }
    number();
    for (std::size_t u = 0; u < members_.size(); ++u) describe(u);
    for (const ChannelNode& node : units_.nodes) {
      add_costs(node);
      add_parts(node);
    }
    for (std::size_t u = 0; u < members_.size(); ++u) store_costs(u);
  }

  ChannelUnits take() { return std::move(units_); }

 private:
  void place(const ChannelClass& one) {
    const std::vector<Indices> layers = {nodes_of(one.producers), nodes_of(one.passing),
                                         nodes_of(one.readers)};
    const auto [found, is_new] = unit_of_.try_emplace(layers, members_.size());
    if (is_new) members_.emplace_back();
    members_[found->second].push_back(one);
  }

  void number() {
    for (const std::vector<ChannelClass>& unit : members_) {
      units_.first.push_back(units_.channels);
      for (const ChannelClass& one : unit) {
        for (const auto* uses : {&one.producers, &one.passing}) {
          for (const ChannelUse& use : *uses) outputs_of(use.node)[at(use)] = units_.channels;
        }
        for (const ChannelUse& use : one.readers) inputs_of(use.node)[at(use)] = units_.channels;
        ++units_.channels;
      }
    }
    for (auto& [index, node] : nodes_) units_.nodes.push_back(std::move(node));
  }

  static std::size_t at(const ChannelUse& use) { return static_cast<std::size_t>(use.index); }

  ChannelNode& node_of(std::size_t index) {
    const auto [found, is_new] = nodes_.try_emplace(index);
    ChannelNode& node = found->second;
    if (!is_new) return node;
    const Shape shape = parameters_of(graph_.nodes[index]).front().shape;
    node.node = index;
    node.outputs.assign(static_cast<std::size_t>(shape[0]), ChannelNode::kFixed);
    const auto* conv = std::get_if<Conv>(&graph_.nodes[index].op);
    if (shape.size() > 1 && (!conv || conv->groups == 1)) {
      node.inputs.assign(static_cast<std::size_t>(shape[1]), ChannelNode::kFixed);
    }
    return node;
  }
  std::vector<std::int64_t>& outputs_of(std::size_t index) { return node_of(index).outputs; }
  std::vector<std::int64_t>& inputs_of(std::size_t index) { return node_of(index).inputs; }

  // Weights of a filter.
  std::int64_t filter_size(std::size_t index) const {
    const Shape shape = parameters_of(graph_.nodes[index]).front().shape;
    return element_count(shape) / shape[0];
  }

  double macs_per_weight(std::size_t index) const {
    const Shape shape = parameters_of(graph_.nodes[index]).front().shape;
    return static_cast<double>(dense_macs(graph_, shapes_, index)) /
           static_cast<double>(element_count(shape));
  }

  void describe(std::size_t u) {
    const Indices producers = nodes_of(members_[u].front().producers);
    PrunableLayer unit;
    double macs = 0.0;
    std::size_t largest = producers.front();
    for (const std::size_t index : producers) {
      const std::string& name = graph_.nodes[index].name;
      if (unit.members.empty() || unit.members.back() != name) unit.members.push_back(name);
      unit.weights += filter_size(index);
      macs += macs_per_weight(index) * static_cast<double>(filter_size(index));
      if (filter_size(index) > filter_size(largest)) largest = index;
    }
    unit.blocks = static_cast<std::int64_t>(members_[u].size());
    unit.weights_per_block = unit.weights;
    unit.macs_per_weight = macs / static_cast<double>(unit.weights);
    unit.weights *= unit.blocks;
    unit.shape = parameters_of(graph_.nodes[largest]).front().shape;
    unit.shape[0] = unit.blocks;
    unit.name = free_name(unit.members.front());
    units_.layers.push_back(std::move(unit));
  }

  // A layer whose channels are in several units gives them its name with a number.
  std::string free_name(const std::string& layer) const {
    std::string name = layer;
    const auto is_taken = [&](const PrunableLayer& unit) { return unit.name == name; };
    for (int i = 2; std::any_of(units_.layers.begin(), units_.layers.end(), is_taken); ++i) {
      name = layer + "#" + std::to_string(i);
    }
    return name;
  }

  // How many of a node's channels each block of a unit is; under kNone those that are fixed.
  std::map<std::size_t, double> counted(const std::vector<std::int64_t>& channels) const {
    std::map<std::size_t, double> counts;
    for (const std::int64_t channel : channels) {
      if (channel == ChannelNode::kFixed) {
        ++counts[ChannelCost::kNone];
        continue;
      }
      const std::size_t u = units_.unit_of(channel);
      counts[u] += 1.0 / static_cast<double>(members_[u].size());
    }
    for (auto& [u, count] : counts) count = std::round(count);  // each block is as many
    return counts;
  }

  void add_costs(const ChannelNode& node) {
    if (!has_prunable_weight(graph_.nodes[node.node])) return;
    const std::map<std::size_t, double> outputs = counted(node.outputs);
    std::map<std::size_t, double> inputs = counted(node.inputs);
    if (inputs.empty()) inputs[ChannelCost::kNone] = 1;  // depthwise
    const auto taps = static_cast<double>(filter_size(node.node)) /
                      static_cast<double>(std::max<std::size_t>(node.inputs.size(), 1));
    for (const auto& [out, rows] : outputs) {
      for (const auto& [in, columns] : inputs) {
        const bool has_owner = out != ChannelCost::kNone;
        if (!has_owner && in == ChannelCost::kNone) continue;  // cannot go
        ChannelCost& cost = has_owner ? costs_[out][in] : costs_[in][ChannelCost::kNone];
        cost.weights += rows * columns * taps;
        cost.macs += rows * columns * taps * macs_per_weight(node.node);
      }
    }
  }

  // Channels of each unit that the node computes, passes or reads.
  void add_parts(const ChannelNode& node) {
    const Shape shape = parameters_of(graph_.nodes[node.node]).front().shape;
    const bool is_layer = has_prunable_weight(graph_.nodes[node.node]);
    const ChannelPart none = {.layer = graph_.nodes[node.node].name,
                              .all_outputs = shape[0],
                              .all_inputs = is_layer ? shape[1] : 0,
                              .weights = is_layer ? element_count(shape) : 0};
    std::map<std::size_t, ChannelPart> parts;  // by unit
    for (const auto& [unit, count] : counted(node.outputs)) {
      parts.try_emplace(unit, none).first->second.outputs = std::llround(count);
    }
    for (const auto& [unit, count] : counted(node.inputs)) {
      parts.try_emplace(unit, none).first->second.inputs = std::llround(count);
    }
    parts.erase(ChannelCost::kNone);
    for (const auto& [unit, part] : parts) units_.layers[unit].parts.push_back(part);
  }

  void store_costs(std::size_t u) {
    for (auto& [other, cost] : costs_[u]) {
      cost.other = other;
      units_.layers[u].costs.push_back(cost);
    }
  }

  const Graph& graph_;
  std::vector<Shape> shapes_;
  std::map<std::vector<Indices>, std::size_t> unit_of_;
  std::vector<std::vector<ChannelClass>> members_;  // [units][blocks]
  std::map<std::size_t, ChannelNode> nodes_;
  std::map<std::size_t, std::map<std::size_t, ChannelCost>> costs_;
  ChannelUnits units_;
};

}  // namespace

std::size_t ChannelUnits::unit_of(std::int64_t channel) const {
  const auto next = std::upper_bound(first.begin(), first.end(), channel);
  return static_cast<std::size_t>(next - first.begin()) - 1;
}

ChannelUnits channel_units(const Graph& graph) {
  ChannelUnits units = UnitMaker(graph).take();
  if (units.channels == 0) {
    fail(ErrorCode::usage, "granularity: ", graph.name,
         " has no channel that can go: its layers compute the output or meet the input");
  }
  return units;
}

}  // namespace winnow
