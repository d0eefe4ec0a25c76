// Graphs in YAML. For the sources of this folder only.
//
//   name: tiny
//   nodes:
//     - {name: image, op: input, shape: [3, 32, 32]}
//     - {name: conv1, op: conv2d, out_channels: 16, kernel: 3, padding: 1}
//     - {name: sum, op: add, inputs: [conv1, image]}
//
// `inputs` is the node before if it is left out; sizes that the input gives may be left out.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

#include "prune/config/yaml_place.h"
#include "runtime/model/graph.h"

namespace winnow {

// `path` is the dotted path of `node` in its file. Throws Error{usage}.
Graph read_graph(const YAML::Node& node, const std::string& path, const YamlPlaces& places);

// A file that holds the same map at its top. Throws Error{bad_file} if it cannot be read.
Graph read_graph_file(const std::string& file);

}  // namespace winnow
