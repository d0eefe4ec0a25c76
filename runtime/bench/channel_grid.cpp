#include "runtime/bench/channel_grid.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <variant>

#include "runtime/model/channel_classes.h"

namespace winnow {
namespace {

using Nodes = std::vector<std::size_t>;

bool is_depthwise(const Op& op) {
  const auto* conv = std::get_if<Conv>(&op);
  return conv && conv->groups > 1 && conv->groups == conv->in_channels &&
         conv->groups == conv->out_channels;
}

std::int64_t outputs_of(const Op& op) {
  if (const auto* conv = std::get_if<Conv>(&op)) return conv->out_channels;
  return std::get<Linear>(op).out_features;
}

std::int64_t inputs_of(const Op& op) {
  if (is_depthwise(op)) return 1;
  if (const auto* conv = std::get_if<Conv>(&op)) return conv->in_channels;
  return std::get<Linear>(op).in_features;
}

std::int64_t share_of(double share, std::int64_t all) {
  const auto some = static_cast<std::int64_t>(std::llround(share * static_cast<double>(all)));
  return std::clamp(some, std::int64_t{1}, all);
}

std::vector<std::int64_t> axis(std::int64_t all, bool can_go, std::span<const double> shares) {
  std::vector<std::int64_t> sizes = {all};
  for (const double share : shares) {
    if (can_go) sizes.push_back(share_of(share, all));
  }
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

// Channels of one unit are computed, passed and read by the same nodes.
using Unit = std::tuple<Nodes, Nodes, Nodes>;

Nodes nodes_of(const std::vector<ChannelUse>& uses) {
  Nodes nodes;
  for (const ChannelUse& use : uses) nodes.push_back(use.node);
  return nodes;
}

void take_output(Op& op) {
  if (auto* conv = std::get_if<Conv>(&op)) {
    --conv->out_channels;
    if (conv->groups > 1) conv->groups = conv->in_channels = conv->out_channels;  // depthwise
  }
  if (auto* linear = std::get_if<Linear>(&op)) --linear->out_features;
  if (auto* norm = std::get_if<BatchNorm>(&op)) --norm->channels;
}

void take_input(Op& op) {
  if (auto* conv = std::get_if<Conv>(&op)) --conv->in_channels;
  if (auto* linear = std::get_if<Linear>(&op)) --linear->in_features;
}

}  // namespace

std::vector<ChannelFreedom> channel_freedom(const Graph& graph) {
  std::vector<ChannelFreedom> all(graph.nodes.size());
  for (const ChannelClass& one : channel_classes(graph)) {
    if (one.is_fixed || one.producers.empty()) continue;
    for (const auto* uses : {&one.producers, &one.passing}) {
      for (const ChannelUse& use : *uses) all[use.node].outputs = true;
    }
    for (const ChannelUse& use : one.readers) all[use.node].inputs = true;
  }
  std::vector<ChannelFreedom> layers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Op& op = graph.nodes[i].op;
    if (!std::holds_alternative<Conv>(op) && !std::holds_alternative<Linear>(op)) continue;
    layers.push_back({graph.nodes[i].name, all[i].outputs, all[i].inputs});
  }
  return layers;
}

ChannelGrid channel_grid(const Op& layer, const ChannelFreedom& freedom,
                         std::span<const double> shares) {
  return {axis(outputs_of(layer), freedom.outputs, shares),
          axis(inputs_of(layer), freedom.inputs && !is_depthwise(layer), shares)};
}

Op narrowed(const Op& layer, std::int64_t outputs, std::int64_t inputs) {
  Op op = layer;
  if (auto* conv = std::get_if<Conv>(&op)) {
    conv->out_channels = outputs;
    conv->in_channels = is_depthwise(layer) ? outputs : inputs;
    if (is_depthwise(layer)) conv->groups = outputs;
  }
  if (auto* linear = std::get_if<Linear>(&op)) {
    linear->out_features = outputs;
    linear->in_features = inputs;
  }
  return op;
}

Graph narrowed(Graph graph, double share) {
  std::map<Unit, std::vector<ChannelClass>> units;
  for (const ChannelClass& one : channel_classes(graph)) {
    if (one.is_fixed || one.producers.empty()) continue;
    units[{nodes_of(one.producers), nodes_of(one.passing), nodes_of(one.readers)}].push_back(one);
  }
  for (const auto& [unit, classes] : units) {
    const auto all = static_cast<std::int64_t>(classes.size());
    for (std::int64_t gone = share_of(share, all); gone < all; ++gone) {
      for (const auto* nodes : {&std::get<0>(unit), &std::get<1>(unit)}) {
        for (const std::size_t node : *nodes) take_output(graph.nodes[node].op);
      }
      for (const std::size_t node : std::get<2>(unit)) take_input(graph.nodes[node].op);
    }
  }
  return graph;
}

std::vector<double> never_falling(std::span<const double> ms, std::size_t columns) {
  const std::size_t rows = ms.size() / columns;
  std::vector<double> low(ms.begin(), ms.end()), high = low, mean;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      double& here = low[r * columns + c];  // the largest so far
      if (r > 0) here = std::max(here, low[(r - 1) * columns + c]);
      if (c > 0) here = std::max(here, low[r * columns + c - 1]);
    }
  }
  for (std::size_t r = rows; r-- > 0;) {
    for (std::size_t c = columns; c-- > 0;) {
      double& here = high[r * columns + c];  // the least from here on
      if (r + 1 < rows) here = std::min(here, high[(r + 1) * columns + c]);
      if (c + 1 < columns) here = std::min(here, high[r * columns + c + 1]);
    }
  }
  for (std::size_t i = 0; i < low.size(); ++i) mean.push_back((low[i] + high[i]) / 2);
  return mean;
}

}  // namespace winnow
