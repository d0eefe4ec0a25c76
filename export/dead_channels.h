// Exact removal of channels that carry nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/model/model.h"

namespace winnow {

// Channels that removal took out of one layer.
struct RemovedChannels {
  std::string layer;
  std::int64_t outputs = 0;
  std::int64_t inputs = 0;

  friend bool operator==(const RemovedChannels&, const RemovedChannels&) = default;
};

// Removes, until nothing changes, every output channel of a conv or linear
//   - whose filter is all zeros, so that it is the constant c = bias (max(0, c) behind a relu), if
//     every reader sees that constant everywhere: c is 0, or the reader is a linear or a
//     convolution without padding, whose bias then takes up c * sum(w) over the channel's weights;
//   - or that no reader multiplies by anything but zeros.
// Channels that meet in an add, or that a depthwise convolution reads, go together with those of
// all layers that they meet, where all are 0 or none is read (coupled_channels.h).
// The network's function stays the same up to the rounding of the biases. With zero padding and
// c != 0 the borders differ, and the channel stays. So do channels of other grouped convolutions,
// and the last one of a layer. A vector mask loses whole groups only.
// Codes of quantized weights are cut, not changed.
//
// Requires a model that passes check_model and has no batch norm to fold. Layers in graph order.
std::vector<RemovedChannels> remove_dead_channels(Model& model);

}  // namespace winnow
