#include "runtime/model/fold_batch_norm.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/base/error.h"

namespace winnow {
namespace {

// The conv or linear that batch norm `index` can be folded into.
std::optional<std::size_t> foldable_layer(const Graph& graph, std::size_t index) {
  if (!std::holds_alternative<BatchNorm>(graph.nodes[index].op)) return std::nullopt;
  const std::size_t layer = node_index(graph, graph.nodes[index].inputs.front());
  const Op& op = graph.nodes[layer].op;
  if (!std::holds_alternative<Conv>(op) && !std::holds_alternative<Linear>(op)) return std::nullopt;
  if (reader_count(graph, graph.nodes[layer].name) != 1) return std::nullopt;
  return layer;
}

bool& has_bias(Op& op) {
  if (auto* conv = std::get_if<Conv>(&op)) return conv->has_bias;
  return std::get<Linear>(op).has_bias;
}

// gamma / sqrt(var + epsilon) per channel.
std::vector<double> channel_scales(const Model& model, const Node& norm) {
  const auto gamma = model.tensors.at(norm.name + ".weight").values<float>();
  const auto variance = model.tensors.at(norm.name + ".running_var").values<float>();
  const double epsilon = std::get<BatchNorm>(norm.op).epsilon;
  std::vector<double> scales(gamma.size());
  for (std::size_t k = 0; k < scales.size(); ++k) {
    scales[k] =
        static_cast<double>(gamma[k]) / std::sqrt(static_cast<double>(variance[k]) + epsilon);
  }
  return scales;
}

void scale_weight(Tensor& weight, const std::vector<double>& scales) {
  const std::span<float> values = weight.values<float>();
  const std::size_t row = scales.empty() ? 0 : values.size() / scales.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(static_cast<double>(values[i]) * scales[i / row]);
  }
}

Tensor folded_bias(const Model& model, const Node& layer, const Node& norm,
                   const std::vector<double>& scales) {
  const auto mean = model.tensors.at(norm.name + ".running_mean").values<float>();
  const auto beta = model.tensors.at(norm.name + ".bias").values<float>();
  const auto old = model.tensors.find(layer.name + ".bias");
  std::vector<float> bias(scales.size());
  for (std::size_t k = 0; k < bias.size(); ++k) {
    const double b = old == model.tensors.end() ? 0.0 : old->second.values<float>()[k];
    bias[k] = static_cast<float>((b - static_cast<double>(mean[k])) * scales[k] +
                                 static_cast<double>(beta[k]));
  }
  return Tensor::from<float>({static_cast<std::int64_t>(bias.size())}, bias);
}

void fold(Model& model, std::size_t layer_index, std::size_t norm_index) {
  Node& layer = model.graph.nodes[layer_index];
  const Node norm = model.graph.nodes[norm_index];
  const auto weight = model.tensors.find(layer.name + ".weight");
  if (weight == model.tensors.end()) {
    fail(ErrorCode::usage, "layer '", layer.name, "': batch norm cannot be folded into quantized ",
         "weights; quantize folds it first");
  }
  const std::vector<double> scales = channel_scales(model, norm);
  model.tensors[layer.name + ".bias"] = folded_bias(model, layer, norm, scales);
  scale_weight(weight->second, scales);
  has_bias(layer.op) = true;
  for (const Parameter& parameter : parameters_of(norm)) model.tensors.erase(parameter.name);
  bypass_node(model.graph, norm_index);
}

}  // namespace

Model fold_batch_norm(const Model& model) {
  Model folded = model;
  for (std::size_t i = 0; i < folded.graph.nodes.size();) {
    if (const auto layer = foldable_layer(folded.graph, i)) {
      fold(folded, *layer, i);
    } else {
      ++i;
    }
  }
  return folded;
}

void bypass_node(Graph& graph, std::size_t index) {
  const std::string gone = graph.nodes[index].name;
  const std::string source = graph.nodes[index].inputs.front();
  for (Node& node : graph.nodes) {
    std::replace(node.inputs.begin(), node.inputs.end(), gone, source);
  }
  graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(index));
}

std::size_t reader_count(const Graph& graph, const std::string& name) {
  std::size_t count = 0;
  for (const Node& node : graph.nodes) {
    count += static_cast<std::size_t>(std::count(node.inputs.begin(), node.inputs.end(), name));
  }
  return count;
}

}  // namespace winnow
