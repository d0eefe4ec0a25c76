// Exact removal of channels that several layers share.
#pragma once

#include <cstddef>
#include <map>

#include "export/dead_channels.h"
#include "runtime/model/model.h"

namespace winnow {

// Takes out every class of channels (channel_classes.h) that is 0 at every position, because all
// filters and biases that make it and all biases on its way are 0, or that no reader multiplies by
// anything but zeros. A layer keeps its first channel at least, and a vector mask loses whole
// groups only. Adds what went to `tally`, by node. True if anything did.
//
// Requires what remove_dead_channels() requires.
bool remove_coupled_channels(Model& model, std::map<std::size_t, RemovedChannels>& tally);

}  // namespace winnow
