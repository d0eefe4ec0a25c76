// What torchvision calls the layers of our built-in networks.
#pragma once

#include <map>
#include <string>

#include "runtime/model/graph.h"

namespace winnow {

struct TorchvisionLayers {
  // Our name to torchvision's, for nodes with parameters whose names differ.
  std::map<std::string, std::string> names;
  bool have_biases = false;  // every convolution there has one, before a batch norm too
};

// By the graph's name: that of a built-in network. torchvision has our vgg16 twice: as vgg16 and,
// with batch norms, as vgg16_bn. Networks that are not built in keep their names.
TorchvisionLayers torchvision_layers(const Graph& graph);

}  // namespace winnow
