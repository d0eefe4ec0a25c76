// What masks of whole channels are made of: the layers whose channels go together, and what goes
// with them. Free of LibTorch's headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "prune/evolution/trainee/trainee.h"
#include "runtime/model/graph.h"
#include "runtime/model/model.h"

namespace winnow {

// Which channel of the masks each channel of a node is; kFixed where it cannot go.
struct ChannelNode {
  static constexpr std::int64_t kFixed = -1;
  std::size_t node = 0;
  std::vector<std::int64_t> outputs;  // [K]
  // [C], of convolutions and linear layers; empty for batch norms and depthwise convolutions, whose
  // channels are those of their input.
  std::vector<std::int64_t> inputs;
};

// A unit has the channels that are computed, passed on and read by the same layers: those of one
// layer, or of several where an add joins them. Its blocks are its channels, numbered one after the
// other over all units.
struct ChannelUnits {
  std::vector<PrunableLayer> layers;  // one per unit, in the order of their first layers
  std::vector<std::int64_t> first;    // [units] number of the unit's first channel
  std::int64_t channels = 0;          // of all units
  std::vector<ChannelNode> nodes;     // all nodes that have channels of units, in graph order

  // The number of the unit that has the channel.
  std::size_t unit_of(std::int64_t channel) const;
};

// Channels cannot go that the network's input or output, an embedding, a softmax or a grouped
// convolution has (channel_classes.h). Throws Error{usage} if the graph is not valid or no channel
// is left.
ChannelUnits channel_units(const Graph& graph);

// The channels that the masks of `model` keep, [channels] of 0 or 1. Throws Error{usage} if a mask
// drops other weights than whole channels take along, or a whole layer.
std::vector<std::uint8_t> masked_channels(const ChannelUnits& units, const Model& model);

// Drops the channels that are 0 at every position: filters and biases of all layers that compute
// them are 0, and so are scales and shifts on their way. The first one of a unit stays.
std::vector<std::uint8_t> zero_channels(const ChannelUnits& units, const Model& model);

// Puts masks of single weights that keep these channels into `model`, in place of those that it
// has, and zeros into the f32 weights that they drop.
void set_channel_masks(const ChannelUnits& units, std::span<const std::uint8_t> kept, Model& model);

}  // namespace winnow
