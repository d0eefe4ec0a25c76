// Small graphs for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/model/architectures.h"
#include "runtime/model/graph.h"

namespace winnow {

// "net": an input followed by `nodes`; a node without inputs reads the one before it.
inline Graph graph_of(Shape input, std::vector<Node> nodes, bool is_tokens = false) {
  Graph graph{"net", {{"input", Input{std::move(input), is_tokens}, {}}}};
  for (Node& node : nodes) {
    if (node.inputs.empty()) node.inputs = {graph.nodes.back().name};
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

inline Conv conv(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t padding = 0) {
  Conv op;
  op.in_channels = in;
  op.out_channels = out;
  op.kernel = {kernel, kernel};
  op.padding = {padding, padding};
  return op;
}

inline Conv conv1d(std::int64_t in, std::int64_t out, std::int64_t kernel) {
  Conv op = conv(in, out, kernel);
  op.rank = 1;
  op.kernel[0] = 1;
  return op;
}

// What a built-in network can be made of, small: images of 32 pixels or sentences of 9 words.
inline ArchitectureOptions options_for(const std::string& architecture, std::int64_t classes = 10) {
  if (architecture == "textcnn") return {{9}, classes, 0.0, Stem::imagenet, 12, 5};
  if (architecture == "lenet5") return {{1, 28, 28}, classes};
  return {{3, 32, 32}, classes};
}

// A residual block with every join: input [4, 6, 6].
inline Graph joined_graph() {
  return graph_of({4, 6, 6}, {{"conv1", conv(4, 4, 3, 1), {}},
                              {"relu1", Relu{}, {}},
                              {"conv2", conv(4, 4, 3, 1), {}},
                              {"sum", Add{}, {"conv2", "relu1"}},
                              {"both", Concat{}, {"sum", "input"}},
                              {"pool", GlobalPool{PoolKind::average}, {}},
                              {"fc", Linear{8, 3, true}, {}},
                              {"out", Softmax{}, {}}});
}

}  // namespace winnow
