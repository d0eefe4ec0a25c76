#include "runtime/model/graph_edit.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {

std::vector<std::size_t> readers_of(const Graph& graph, const std::string& name) {
  std::vector<std::size_t> readers;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto& inputs = graph.nodes[i].inputs;
    if (std::find(inputs.begin(), inputs.end(), name) != inputs.end()) readers.push_back(i);
  }
  return readers;
}

std::span<float> bias_of(Model& model, Node& node) {
  const std::string name = bias_name(node);
  if (auto* op = std::get_if<Conv>(&node.op); op && !op->has_bias) {
    op->has_bias = true;
    model.tensors[name] = Tensor(DataType::f32, {op->out_channels});
  }
  if (auto* op = std::get_if<Linear>(&node.op); op && !op->has_bias) {
    op->has_bias = true;
    model.tensors[name] = Tensor(DataType::f32, {op->out_features});
  }
  return model.tensors.at(name).values<float>();
}

void erase_node(Model& model, std::size_t index) {
  const Node removed = model.graph.nodes.at(index);
  model.graph.nodes.erase(model.graph.nodes.begin() + static_cast<std::ptrdiff_t>(index));
  for (const Parameter& parameter : parameters_of(removed)) model.tensors.erase(parameter.name);
  model.tensors.erase(weight_name(removed) + ".mask");
  model.mask_vector.erase(removed.name);
  model.activation_frac.erase(removed.name);
}

void bypass_node(Model& model, std::size_t index) {
  const Node& removed = model.graph.nodes.at(index);
  if (removed.inputs.size() != 1) {
    fail(ErrorCode::internal, model.graph.name, ": node ", in_quotes(removed.name), " reads ",
         removed.inputs.size(), " values, cannot be bypassed");
  }
  for (const std::size_t reader : readers_of(model.graph, removed.name)) {
    std::vector<std::string>& inputs = model.graph.nodes[reader].inputs;
    std::replace(inputs.begin(), inputs.end(), removed.name, removed.inputs[0]);
  }
  erase_node(model, index);
}

Model remove_dropouts(Model model) {
  for (std::size_t i = model.graph.nodes.size(); i-- > 0;) {
    if (std::holds_alternative<Dropout>(model.graph.nodes[i].op)) bypass_node(model, i);
  }
  return model;
}

}  // namespace winnow
