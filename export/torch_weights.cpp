#include "export/torch_weights.h"

#include <algorithm>

#include "runtime/model/architectures.h"
#include "runtime/model/torchvision_names.h"

namespace winnow {
namespace {

void add_node(const Model& model, const Node& node, const TorchvisionLayers& layers,
              SafetensorsFile& file) {
  const auto renamed = layers.names.find(node.name);
  const std::string& name = renamed == layers.names.end() ? node.name : renamed->second;
  for (const Parameter& parameter : parameters_of(node)) {
    const std::string part = parameter.name.substr(node.name.size());
    file.tensors.emplace(name + part, parameter_of(model, node, parameter));
  }
  if (std::holds_alternative<BatchNorm>(node.op)) {
    file.tensors.emplace(name + ".num_batches_tracked", Tensor(DataType::i64, {}));
  }
  const auto* conv = std::get_if<Conv>(&node.op);
  if (layers.have_biases && conv && !conv->has_bias) {
    file.tensors.emplace(name + ".bias", Tensor(DataType::f32, {conv->out_channels}));
  }
}

}  // namespace

SafetensorsFile torch_weights(const Model& model, const std::string& place) {
  check_model(model, place);
  const TorchvisionLayers layers = torchvision_layers(model.graph);
  SafetensorsFile file;
  file.metadata["format"] = "pt";  // as PyTorch's own files say
  for (const Node& node : model.graph.nodes) add_node(model, node, layers, file);
  return file;
}

std::string torch_weights_notice(const Model& model) {
  const std::vector<std::string> known = architecture_names();
  const bool is_known = std::find(known.begin(), known.end(), model.graph.name) != known.end();
  const bool has_norm =
      std::any_of(model.graph.nodes.begin(), model.graph.nodes.end(),
                  [](const Node& node) { return std::holds_alternative<BatchNorm>(node.op); });
  // Without batch norms vgg16 is torchvision's vgg16; textcnn never has any.
  const bool may_lack = model.graph.name == "vgg16" || model.graph.name == "textcnn";
  if (!is_known || has_norm || may_lack) return "";
  return "the batch norms of " + model.graph.name +
         " are folded: a class of PyTorch that has them takes the weights of pruned.safetensors";
}

}  // namespace winnow
