#include "runtime/model/graph.h"

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

struct OpName {
  std::string operator()(const Input&) const { return "input"; }
  std::string operator()(const Conv& op) const { return op.rank == 1 ? "conv1d" : "conv2d"; }
  std::string operator()(const Linear&) const { return "linear"; }
  std::string operator()(const BatchNorm&) const { return "batch_norm"; }
  std::string operator()(const Relu&) const { return "relu"; }
  std::string operator()(const Pool& op) const {
    const std::string name = op.kind == PoolKind::max ? "max_pool" : "avg_pool";
    return op.rank == 1 ? name + "1d" : name;
  }
  std::string operator()(const GlobalPool& op) const {
    return op.kind == PoolKind::max ? "global_max_pool" : "global_avg_pool";
  }
  std::string operator()(const Add&) const { return "add"; }
  std::string operator()(const Concat&) const { return "concat"; }
  std::string operator()(const Flatten&) const { return "flatten"; }
  std::string operator()(const Embedding&) const { return "embedding"; }
  std::string operator()(const Dropout&) const { return "dropout"; }
  std::string operator()(const Softmax&) const { return "softmax"; }
};

// Shapes by the parameter's name after the node's.
struct ParameterShapes {
  std::vector<Parameter> operator()(const Conv& op) const {
    const std::int64_t groups = op.groups < 1 ? 1 : op.groups;
    Shape weight = {op.out_channels, op.in_channels / groups};
    if (op.rank == 2) weight.push_back(op.kernel[0]);
    weight.push_back(op.kernel[1]);
    return with_bias(std::move(weight), op.has_bias);
  }
  std::vector<Parameter> operator()(const Linear& op) const {
    return with_bias({op.out_features, op.in_features}, op.has_bias);
  }
  std::vector<Parameter> operator()(const BatchNorm& op) const {
    const Shape each = {op.channels};
    return {{"weight", each}, {"bias", each}, {"running_mean", each}, {"running_var", each}};
  }
  std::vector<Parameter> operator()(const Embedding& op) const {
    return {{"weight", {op.rows, op.width}}};
  }
  template <typename Other>
  std::vector<Parameter> operator()(const Other&) const {
    return {};
  }

  static std::vector<Parameter> with_bias(Shape weight, bool has_bias) {
    const Shape bias = {weight[0]};
    std::vector<Parameter> parameters = {{"weight", std::move(weight)}};
    if (has_bias) parameters.push_back({"bias", bias});
    return parameters;
  }
};

// Multiply-accumulates per position of the output (conv) or per sample (linear).
struct MacsPerPosition {
  Shape operator()(const Conv& op) const {
    return {op.out_channels, op.in_channels / op.groups, op.kernel[0], op.kernel[1]};
  }
  Shape operator()(const Linear& op) const { return {op.out_features, op.in_features}; }
  template <typename Other>
  Shape operator()(const Other&) const {
    return {0};
  }
};

}  // namespace

std::string op_name(const Op& op) {
  return std::visit(OpName{}, op);
}

std::string weight_name(const Node& node) {
  return node.name + ".weight";
}

std::string bias_name(const Node& node) {
  return node.name + ".bias";
}

std::vector<Parameter> parameters_of(const Node& node) {
  std::vector<Parameter> parameters = std::visit(ParameterShapes{}, node.op);
  for (Parameter& parameter : parameters) parameter.name = node.name + "." + parameter.name;
  return parameters;
}

std::size_t node_index(const Graph& graph, std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].name == name) return i;
    names.push_back(graph.nodes[i].name);
  }
  fail(ErrorCode::usage, graph.name, ": no node is called ", in_quotes(name),
       suggestion(name, names));
}

std::int64_t token_rows(const Graph& graph) {
  std::int64_t rows = 0;
  for (const Node& node : graph.nodes) {
    const auto* embedding = std::get_if<Embedding>(&node.op);
    if (!embedding || node.inputs.front() != graph.nodes.front().name) continue;
    rows = rows == 0 ? embedding->rows : std::min(rows, embedding->rows);
  }
  return rows;
}

std::int64_t dense_macs(const Graph& graph, const std::vector<Shape>& shapes, std::size_t index) {
  Shape factors = std::visit(MacsPerPosition{}, graph.nodes.at(index).op);
  const Shape& output = shapes.at(index);
  for (std::size_t i = 2; i < output.size(); ++i) factors.push_back(output[i]);
  return element_count(factors);
}

}  // namespace winnow
