// A small network with everything that channels pass.
#pragma once

#include <vector>

#include "tests/model/graphs.h"

namespace winnow {

// Adds, a concat, a depthwise convolution, a flattened map: all that channels pass.
inline Graph tangled_graph() {
  Conv depthwise = conv(16, 16, 3, 1);
  depthwise.groups = 16;
  return graph_of({2, 6, 6}, {{"a", conv(2, 16, 3, 1), {"input"}},
                              {"norm", BatchNorm{16}, {"a"}},
                              {"deep", depthwise, {"norm"}},
                              {"b", conv(16, 16, 3, 1), {"deep"}},
                              {"sum", Add{}, {"norm", "b"}},
                              {"c", conv(16, 24, 1), {"sum"}},
                              {"both", Concat{}, {"sum", "c"}},
                              {"both_norm", BatchNorm{40}, {"both"}},
                              {"d", conv(40, 24, 3), {"both_norm"}},
                              {"flat", Flatten{}, {"d"}},
                              {"fc1", Linear{384, 32, true}, {"flat"}},
                              {"fc2", Linear{32, 5, true}, {"fc1"}}});
}

// It, and built-in networks that are small.
inline std::vector<Graph> graphs_with_channels() {
  std::vector<Graph> graphs = {tangled_graph()};
  for (const char* name : {"vgg16", "resnet18", "densenet121"}) {
    graphs.push_back(build_architecture(name, options_for(name)));
  }
  return graphs;
}

}  // namespace winnow
