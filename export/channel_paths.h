// Where the channels of a layer's output go: through nodes that treat each channel alone, to the
// layers that read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/model/graph.h"

namespace winnow {

// One way from a producer's channels to a conv or linear that reads them. Channel k of the producer
// is the consumer's inputs offset + k * width .. offset + (k + 1) * width - 1.
struct ChannelPath {
  std::size_t consumer = 0;  // node index
  std::int64_t offset = 0;
  std::int64_t width = 1;           // more than 1 behind a flatten
  std::vector<std::size_t> passed;  // nodes in between, in order

  friend bool operator==(const ChannelPath&, const ChannelPath&) = default;
};

// All paths from node `producer`, or nothing if its channels cannot be told apart everywhere: the
// network's output, an add, a softmax, a grouped convolution or a batch norm reads them.
//
//   shapes  infer_shapes(graph, 1)
std::optional<std::vector<ChannelPath>> channel_paths(const Graph& graph,
                                                      const std::vector<Shape>& shapes,
                                                      std::size_t producer);

// What a channel that is `constant` at every position becomes behind the node; nothing if it is no
// longer constant (an average over zero padding).
std::optional<double> constant_behind(const Node& node, double constant);

}  // namespace winnow
