#include "export/export_model.h"

#include <cmath>

#include "runtime/base/error.h"
#include "runtime/model/fold_batch_norm.h"
#include "runtime/model/graph_edit.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

// A batch norm over [N, C, H, W] or [N, C, L] is a 1x1 convolution of one channel per group.
void replace_batch_norm(Model& model, Node& node, const Shape& shape) {
  if (shape.size() < 3) {
    fail(ErrorCode::usage, "node '", node.name, "': a batch norm over ", to_string(shape),
         " that no layer can take in cannot be exported");
  }
  const auto norm = std::get<BatchNorm>(node.op);
  const auto values = [&](const char* part) {
    const auto all = model.tensors.at(node.name + part).values<float>();
    return std::vector<double>(all.begin(), all.end());
  };
  const auto gamma = values(".weight"), beta = values(".bias");
  const auto mean = values(".running_mean"), variance = values(".running_var");
  std::vector<float> weight(gamma.size()), bias(gamma.size());
  for (std::size_t c = 0; c < gamma.size(); ++c) {
    const double scale = gamma[c] / std::sqrt(variance[c] + norm.epsilon);
    weight[c] = static_cast<float>(scale);
    bias[c] = static_cast<float>(beta[c] - mean[c] * scale);
  }
  for (const Parameter& parameter : parameters_of(node)) model.tensors.erase(parameter.name);
  Conv conv;
  conv.rank = shape.size() == 4 ? 2 : 1;
  conv.in_channels = conv.out_channels = conv.groups = norm.channels;
  node.op = conv;
  model.tensors[node.name + ".weight"] =
      Tensor::from<float>(parameters_of(node).front().shape, weight);
  model.tensors[node.name + ".bias"] = Tensor::from<float>({norm.channels}, bias);
}

void replace_batch_norms(Model& model) {
  const std::vector<Shape> shapes = infer_shapes(model.graph, 1);
  for (std::size_t i = 0; i < model.graph.nodes.size(); ++i) {
    Node& node = model.graph.nodes[i];
    if (std::holds_alternative<BatchNorm>(node.op)) replace_batch_norm(model, node, shapes[i]);
  }
}

DenseWeight dense_parameter(const Tensor& tensor) {
  return {tensor.shape(), encode_f32(to_floats(tensor))};
}

void add_weights(DeployedModel& deployed, const Model& model, const Node& node, ValueForm form) {
  for (const Parameter& parameter : parameters_of(node)) {
    const bool is_weight = parameter.name == node.name + ".weight";
    if (is_weight && has_prunable_weight(node)) {
      deployed.weights[parameter.name] = deployed_weight(model, node, form);
    } else {
      deployed.weights[parameter.name] = dense_parameter(model.tensors.at(parameter.name));
    }
  }
}

}  // namespace

ExportedModel export_model(const Model& model, const ExportOptions& options) {
  check_model(model, "export");
  Model folded = remove_dropouts(fold_batch_norm(model));
  replace_batch_norms(folded);
  ExportedModel result;
  if (options.removes_dead_channels) result.removed = remove_dead_channels(folded);

  DeployedModel& deployed = result.model;
  deployed.graph = folded.graph;
  deployed.activation_bits = folded.activation_bits;
  deployed.activation_frac = folded.activation_frac;
  deployed.preprocessing = folded.preprocessing;
  deployed.classes = folded.classes;
  deployed.metadata = folded.metadata;
  for (const Node& node : folded.graph.nodes) add_weights(deployed, folded, node, options.values);
  check_deployed_model(deployed, "export");
  return result;
}

}  // namespace winnow
