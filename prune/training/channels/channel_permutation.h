// Channels of a network in another order, which leaves its function as it is. Free of LibTorch's
// headers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "prune/training/channels/channel_units.h"
#include "runtime/model/model.h"

namespace winnow {

// How a conv or linear layer is going to be masked.
struct LayerMasks {
  std::string name;
  std::int64_t vector = 1;  // neighbouring output channels that share a mask bit
  double density = 1.0;     // share of its blocks that masks are going to keep
};

// [channels of all units]: the channel at each place, which is one of the same unit. Where layers
// with masks of vectors compute a unit, its order is that of grouped_order() (channel_groups.h) for
// these layers, in groups of the largest of their vectors. Other units stay as they are, as do
// those that are only a part of a layer's outputs.
std::vector<std::int64_t> permutation_for(const ChannelUnits& units, const Model& model,
                                          std::span<const LayerMasks> layers);

// Brings the parameters of all layers that compute, pass or read the channels into this order.
// Requires f32 weights without masks.
void permute_channels(const ChannelUnits& units, std::span<const std::int64_t> order, Model& model);

}  // namespace winnow
