// Small graphs and images for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/model/graph.h"

namespace winnow {

// Nodes one after the other, each fed by the one before: {{"conv1", Conv{...}}, ...}.
inline Graph chain(const Shape& input, std::vector<std::pair<std::string, Op>> ops,
                   bool is_tokens = false) {
  Graph graph;
  graph.name = "chain";
  graph.nodes.push_back({"input", Input{input, is_tokens}, {}});
  for (auto& [name, op] : ops) {
    graph.nodes.push_back({name, std::move(op), {graph.nodes.back().name}});
  }
  return graph;
}

// conv 3x3 -> batch norm -> relu -> max pool -> conv 3x3 -> relu -> flatten -> linear, for
// [channels, 8, 8].
inline Graph small_network(std::int64_t channels, std::int64_t classes) {
  return chain({channels, 8, 8},
               {{"conv1", Conv{.in_channels = channels,
                               .out_channels = 8,
                               .kernel = {3, 3},
                               .padding = {1, 1},
                               .has_bias = false}},
                {"norm1", BatchNorm{.channels = 8}},
                {"relu1", Relu{}},
                {"pool1", Pool{}},
                {"conv2", Conv{.in_channels = 8, .out_channels = 12, .kernel = {3, 3}}},
                {"relu2", Relu{}},
                {"flatten", Flatten{}},
                {"linear", Linear{.in_features = 48, .out_features = classes}}});
}

}  // namespace winnow
