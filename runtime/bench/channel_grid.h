// A layer with fewer channels: which sizes are measured, and what of the times is noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/model/graph.h"

namespace winnow {

// Output and input channels (features of a linear layer) to measure a layer with: every pair of
// one of each, rising; the last ones are the layer's own. A depthwise convolution, whose inputs are
// its outputs, has 1 input, as its weight has.
struct ChannelGrid {
  std::vector<std::int64_t> outputs, inputs;

  friend bool operator==(const ChannelGrid&, const ChannelGrid&) = default;
};

// Whether single outputs and inputs of node `node` can go (channel_classes.h).
struct ChannelFreedom {
  std::string node;
  bool outputs = false, inputs = false;
};

// Of every convolution and linear layer, in the graph's order.
std::vector<ChannelFreedom> channel_freedom(const Graph& graph);

// The layer's own channels and these shares of those that can go, at least 1, each number once.
ChannelGrid channel_grid(const Op& layer, const ChannelFreedom& freedom,
                         std::span<const double> shares);

// The convolution or linear layer with so many channels, of a ChannelGrid.
Op narrowed(const Op& layer, std::int64_t outputs, std::int64_t inputs);

// The graph with this share of the channels that can go, of coupled layers the same ones; each has
// one at least.
Graph narrowed(Graph graph, double share);

// The table [rows, columns] of times that never falls with row or column and whose largest
// distance from `ms` is least: the mean of the largest time of all smaller layers and the least of
// all larger ones (Ubhaya, "Isotone optimization", 1974).
std::vector<double> never_falling(std::span<const double> ms, std::size_t columns);

}  // namespace winnow
