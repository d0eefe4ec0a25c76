// Networks without some of their channels. Free of LibTorch's headers.
#pragma once

#include <cstdint>
#include <span>

#include "prune/training/channels/channel_units.h"
#include "runtime/model/model.h"

namespace winnow {

// Takes the channels out of `model` that `kept`, [channels of all units] of 0 or 1, drops: of all
// layers that compute, pass or read them. Each unit keeps one at least, and those that go are 0 at
// every position (zero_channels()), so that the network computes what it did, with smaller layers.
// Requires a model without masks.
void remove_channels(const ChannelUnits& units, std::span<const std::uint8_t> kept, Model& model);

}  // namespace winnow
