#include "export/export_model.h"

#include "runtime/model/fold_batch_norm.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

DenseWeight dense_parameter(const Tensor& tensor) {
  return {tensor.shape(), encode_f32(to_floats(tensor))};
}

void add_weights(DeployedModel& deployed, const Model& model, const Node& node,
                 const ExportOptions& options) {
  for (const Parameter& parameter : parameters_of(node)) {
    const bool is_weight = parameter.name == weight_name(node);
    if (is_weight && has_prunable_weight(node)) {
      deployed.weights[parameter.name] =
          deployed_weight(model, node, options.values, options.place);
    } else {
      deployed.weights[parameter.name] = dense_parameter(model.tensors.at(parameter.name));
    }
  }
}

}  // namespace

ExportedModel export_model(const Model& model, const ExportOptions& options) {
  Model folded = fold_batch_norm(model);
  ExportedModel result;
  if (options.removes_dead_channels) result.removed = remove_dead_channels(folded);

  DeployedModel& deployed = result.model;
  deployed.graph = folded.graph;
  deployed.activation_bits = folded.activation_bits;
  deployed.activation_frac = folded.activation_frac;
  deployed.preprocessing = folded.preprocessing;
  deployed.classes = folded.classes;
  deployed.metadata = folded.metadata;
  for (const Node& node : folded.graph.nodes) add_weights(deployed, folded, node, options);
  check_deployed_model(deployed, options.place);
  return result;
}

}  // namespace winnow
