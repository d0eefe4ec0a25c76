// graph_for_weights: built-in networks for weights under torchvision's names.
#include <algorithm>
#include <string>

#include "import/weights_import.h"
#include "runtime/model/architectures.h"
#include "runtime/model/graph_edit.h"
#include "runtime/model/torchvision_names.h"

namespace winnow {
namespace {

bool has_batch_norm(const SafetensorsFile& weights) {
  return std::any_of(weights.tensors.begin(), weights.tensors.end(),
                     [](const auto& named) { return named.first.ends_with(".running_mean"); });
}

Graph without_batch_norms(Graph graph) {
  Model model;
  model.graph = std::move(graph);
  for (std::size_t i = model.graph.nodes.size(); i-- > 0;) {
    if (std::holds_alternative<BatchNorm>(model.graph.nodes[i].op)) bypass_node(model, i);
  }
  return std::move(model.graph);
}

// Names of ours that the file uses itself stay as they are.
void add_torchvision_names(const Graph& graph, const SafetensorsFile& weights, NameMap& names) {
  for (const auto& [ours, theirs] : torchvision_layers(graph).names) {
    if (weights.tensors.contains(theirs + ".weight")) names.emplace(theirs, ours);
  }
}

// The tensor of the file that is `ours`; null if there is none.
const Tensor* tensor_for(const std::string& node, const std::string& part,
                         const SafetensorsFile& weights, const NameMap& names) {
  const auto find = [&](const std::string& name) -> const Tensor* {
    const auto found = weights.tensors.find(name);
    return found == weights.tensors.end() ? nullptr : &found->second;
  };
  for (const auto& [theirs, ours] : names) {
    if (ours == node + part) return find(theirs);
    if (ours == node) return find(theirs + part);
  }
  return find(node + part);
}

void take_biases(Graph& graph, const SafetensorsFile& weights, const NameMap& names) {
  for (Node& node : graph.nodes) {
    const bool has_bias = tensor_for(node.name, ".bias", weights, names) != nullptr;
    if (!tensor_for(node.name, ".weight", weights, names)) continue;
    if (auto* conv = std::get_if<Conv>(&node.op)) conv->has_bias = has_bias;
    if (auto* linear = std::get_if<Linear>(&node.op)) linear->has_bias = has_bias;
  }
}

// Whether the first convolution is that of Stem::cifar.
bool has_small_stem(const Graph& graph, const SafetensorsFile& weights, const NameMap& names) {
  const Tensor* first = tensor_for(graph.nodes[1].name, ".weight", weights, names);
  return first && first->shape().size() == 4 && first->shape()[2] == 3;
}

}  // namespace

Graph graph_for_weights(const std::string& architecture, Shape input,
                        const SafetensorsFile& weights, NameMap& names) {
  if (input.empty()) input = architecture == "lenet5" ? Shape{1, 28, 28} : Shape{3, 224, 224};
  ArchitectureOptions options{std::move(input), 10, 0.0};
  const Tensor* table = tensor_for("embedding", ".weight", weights, names);
  if (table && table->shape().size() == 2) {
    options.tokens = table->shape()[0];
    options.embedding = table->shape()[1];
  }
  const bool is_plain = architecture == "vgg16" && !has_batch_norm(weights);
  const auto build = [&] {
    Graph graph = build_architecture(architecture, options);
    return is_plain ? without_batch_norms(std::move(graph)) : graph;
  };
  Graph graph = build();
  add_torchvision_names(graph, weights, names);
  if (has_stem(architecture) && has_small_stem(graph, weights, names)) {
    options.stem = Stem::cifar;
    graph = build();
  }
  const Tensor* last = tensor_for(graph.nodes.back().name, ".weight", weights, names);
  if (last && last->shape().size() == 2 && last->shape()[0] > 0) {
    options.classes = last->shape()[0];
    graph = build();
  }
  take_biases(graph, weights, names);
  return graph;
}

}  // namespace winnow
