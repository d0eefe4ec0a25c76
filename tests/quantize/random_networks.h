// Small models with random parameters, and their outputs by the reference operations.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/model/model.h"
#include "runtime/reference/operations.h"

namespace winnow {

// Random parameters for every node of `graph`; variances are positive.
inline Model random_network(Graph graph, std::uint64_t seed) {
  Random random(seed);
  Model model;
  model.graph = std::move(graph);
  for (const Node& node : model.graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      Tensor tensor(DataType::f32, parameter.shape);
      const bool is_variance = parameter.name.ends_with("running_var");
      for (float& x : tensor.values<float>()) {
        x = static_cast<float>(is_variance ? random.uniform(0.2, 3) : random.normal(0, 0.5));
      }
      model.tensors[parameter.name] = std::move(tensor);
    }
  }
  return model;
}

// Keeps blocks of `vector` output channels of a weight with probability `density`.
inline void prune_node(Model& model, const std::string& node, int vector, double density,
                       std::uint64_t seed) {
  Random random(seed);
  Tensor& weight = model.tensors.at(node + ".weight");
  Shape shape = weight.shape();
  const auto inner = static_cast<std::size_t>(weight.count() / shape[0]);
  shape[0] = (shape[0] + vector - 1) / vector;
  Tensor mask(DataType::u8, shape);
  const auto blocks = mask.values<std::uint8_t>();
  for (std::uint8_t& block : blocks) block = random.chance(density);
  const auto values = weight.values<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = i / inner / static_cast<std::size_t>(vector);
    if (blocks[row * inner + i % inner] == 0) values[i] = 0;
  }
  model.tensors[node + ".weight.mask"] = std::move(mask);
  model.mask_vector[node] = vector;
}

// One node by runtime/reference; batch norm and dropout, which it does not have, here.
class NodeEvaluation {
 public:
  NodeEvaluation(const Model& model, const Node& node,
                 const std::vector<const reference::Array*>& inputs)
      : model_(model), node_(node), inputs_(inputs) {}

  template <typename T>
  reference::Array operator()(const T& op) const {
    const reference::Array& x = *inputs_[0];
    if constexpr (std::is_same_v<T, Conv>) return conv(op, x, weight(), parameter(".bias"));
    if constexpr (std::is_same_v<T, Linear>) return linear(op, x, weight(), parameter(".bias"));
    if constexpr (std::is_same_v<T, BatchNorm>) return normalized(op, x);
    if constexpr (std::is_same_v<T, Relu>) return relu(x, op);
    if constexpr (std::is_same_v<T, Pool>) return pool(op, x);
    if constexpr (std::is_same_v<T, GlobalPool>) return global_pool(op, x);
    if constexpr (std::is_same_v<T, Add>) return add(inputs_);
    if constexpr (std::is_same_v<T, Concat>) return concat(inputs_);
    if constexpr (std::is_same_v<T, Flatten>) return flatten(x);
    if constexpr (std::is_same_v<T, Embedding>) return embedding(op, x, parameter(".weight"));
    if constexpr (std::is_same_v<T, Softmax>) return softmax(x);
    if constexpr (std::is_same_v<T, Input> || std::is_same_v<T, Dropout>) return x;
  }

 private:
  std::vector<float> parameter(const char* part) const {
    const auto found = model_.tensors.find(node_.name + part);
    return found == model_.tensors.end() ? std::vector<float>{} : to_floats(found->second);
  }

  std::vector<float> weight() const { return to_floats(weight_of(model_, node_.name)); }

  reference::Array normalized(const BatchNorm& op, reference::Array x) const {
    const auto gamma = parameter(".weight"), beta = parameter(".bias");
    const auto mean = parameter(".running_mean"), variance = parameter(".running_var");
    const std::size_t plane = x.values.size() / static_cast<std::size_t>(x.shape[0] * x.shape[1]);
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      const std::size_t c = i / plane % gamma.size();
      x.values[i] = static_cast<float>(
          (x.values[i] - mean[c]) / std::sqrt(variance[c] + op.epsilon) * gamma[c] + beta[c]);
    }
    return x;
  }

  const Model& model_;
  const Node& node_;
  const std::vector<const reference::Array*>& inputs_;
};

using Visit = std::function<void(const std::string& node, std::span<float> values)>;

// The last node's value for `input`; `visit` may change each value before others read it.
inline std::vector<float> evaluate(
    const Model& model, const reference::Array& input,
    const Visit& visit = [](const std::string&, std::span<float>) {}) {
  std::map<std::string, reference::Array> values;
  for (const Node& node : model.graph.nodes) {
    std::vector<const reference::Array*> inputs;
    for (const std::string& name : node.inputs) inputs.push_back(&values.at(name));
    if (inputs.empty()) inputs.push_back(&input);
    reference::Array& value = values[node.name];
    value = std::visit(NodeEvaluation(model, node, inputs), node.op);
    visit(node.name, value.values);
  }
  return values.at(model.graph.nodes.back().name).values;
}

// The same for three random samples.
inline std::vector<float> evaluate(const Model& model, std::uint64_t seed = 99) {
  Random random(seed);
  const Shape shape = infer_shapes(model.graph, 3)[0];
  reference::Array input{shape, std::vector<float>(static_cast<std::size_t>(element_count(shape)))};
  for (float& x : input.values) x = static_cast<float>(random.normal());
  return evaluate(model, input);
}

// The largest |a - b| relative to the largest |a|.
inline double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i])));
    difference = std::max(difference, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return difference / largest;
}

}  // namespace winnow
