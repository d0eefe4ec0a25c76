#include "prune/training/network/initialization.h"

#include <cmath>

#include "runtime/base/random.h"

namespace winnow {
namespace {

void fill_normal(Tensor& tensor, double deviation, Random& random) {
  for (float& value : tensor.values<float>()) {
    value = static_cast<float>(random.normal(0.0, deviation));
  }
}

void fill_uniform(Tensor& tensor, double bound, Random& random) {
  for (float& value : tensor.values<float>()) {
    value = static_cast<float>(random.uniform(-bound, bound));
  }
}

void fill_ones(Tensor& tensor) {
  for (float& value : tensor.values<float>()) value = 1.0f;
}

void initialize(Tensor& tensor, const std::string& name, const Op& op, Random& random) {
  if (const Conv* conv = std::get_if<Conv>(&op)) {
    const auto fan_out = conv->out_channels * conv->kernel[0] * conv->kernel[1];
    if (name.ends_with(".weight")) {
      fill_normal(tensor, std::sqrt(2.0 / static_cast<double>(fan_out)), random);
    }
  } else if (const Linear* linear = std::get_if<Linear>(&op)) {
    fill_uniform(tensor, 1.0 / std::sqrt(static_cast<double>(linear->in_features)), random);
  } else if (std::holds_alternative<Embedding>(op)) {
    fill_normal(tensor, 1.0, random);
  } else if (name.ends_with(".weight") || name.ends_with(".running_var")) {
    fill_ones(tensor);
  }
}

}  // namespace

Model initial_model(const Graph& graph, std::uint64_t seed) {
  infer_shapes(graph, 1);
  Model model;
  model.graph = graph;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Random random(seed, i);  // so that a node's weights do not depend on those of others
    for (const Parameter& parameter : parameters_of(graph.nodes[i])) {
      Tensor tensor(DataType::f32, parameter.shape);
      initialize(tensor, parameter.name, graph.nodes[i].op, random);
      model.tensors[parameter.name] = std::move(tensor);
    }
  }
  return model;
}

}  // namespace winnow
