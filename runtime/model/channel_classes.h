// Which channels of a graph exist or go together: those whose values meet in an add.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/model/graph.h"

namespace winnow {

// Channel `index` that node `node` writes or reads.
struct ChannelUse {
  std::size_t node = 0;
  std::int64_t index = 0;

  friend bool operator==(const ChannelUse&, const ChannelUse&) = default;
  friend auto operator<=>(const ChannelUse&, const ChannelUse&) = default;
};

// A channel, followed from the layers that compute it to those that multiply it by weights. Relus,
// pools, dropouts and global pools pass it on, a concat moves it, a flatten makes it several
// features, and an add makes one of the channels that it sums.
struct ChannelClass {
  std::vector<ChannelUse> producers;  // outputs of convolutions and linear layers
  std::vector<ChannelUse> passing;    // channels of batch norms and of depthwise convolutions
  std::vector<ChannelUse> readers;    // inputs of convolutions and linear layers
  // It cannot be left out: the network's input or output, an embedding, a softmax, or a grouped
  // convolution that is not depthwise (one group for each of as many inputs as outputs).
  bool is_fixed = false;

  friend bool operator==(const ChannelClass&, const ChannelClass&) = default;
};

// All classes of a valid graph, each use in one of them, in the order of their first producers;
// those without a producer come first. Uses are sorted. A convolution's groups are 1 where it is a
// producer or a reader.
std::vector<ChannelClass> channel_classes(const Graph& graph);

}  // namespace winnow
