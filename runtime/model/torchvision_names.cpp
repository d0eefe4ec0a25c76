#include "runtime/model/torchvision_names.h"

namespace winnow {
namespace {

// torchvision numbers the nodes of its VGG networks: features before the flatten, then linear
// layers with a relu and a dropout between them. The short form for small images has one linear
// layer.
std::map<std::string, std::string> vgg_names(const Graph& graph) {
  std::map<std::string, std::string> names;
  int feature = 0;
  int layer = 0;
  for (const Node& node : graph.nodes) {
    if (std::holds_alternative<Input>(node.op)) continue;
    if (std::holds_alternative<Linear>(node.op)) {
      const std::string number = std::to_string(3 * layer++);
      names[node.name] = node.name == "fc" ? "classifier" : "classifier." + number;
    } else {
      const std::string number = std::to_string(feature++);
      if (!parameters_of(node).empty()) names[node.name] = "features." + number;
    }
  }
  return names;
}

}  // namespace

TorchvisionLayers torchvision_layers(const Graph& graph) {
  if (graph.name != "vgg16") return {};
  return {vgg_names(graph), true};
}

}  // namespace winnow
