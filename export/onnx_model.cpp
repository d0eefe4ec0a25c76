#include "export/onnx_model.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>
#include <utility>

#include "export/onnx_graph.h"
#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/base/version.h"
#include "runtime/onnx/onnx_fields.h"

namespace winnow {
namespace {

// The version of the format that came with the operator set.
constexpr std::int64_t kFormatVersion = 7;

std::vector<std::int64_t> extents(Pair pair, int rank) {
  return rank == 1 ? std::vector{pair[1]} : std::vector{pair[0], pair[1]};
}

// ONNX lists all begins, then all ends.
std::vector<std::int64_t> pads(Pair begin, Pair end, int rank) {
  std::vector<std::int64_t> both = extents(begin, rank);
  for (const std::int64_t size : extents(end, rank)) both.push_back(size);
  return both;
}

// Goes through the graph. An op without a function here does not compile, and neither does one with
// a setting more: the functions name all that an op has.
class NodeWriter {
 public:
  explicit NodeWriter(const DeployedModel& model)
      : model_(model), shapes_(infer_shapes(model.graph, 1)), graph_(model.graph.name) {
    for (const auto& [name, weight] : model.weights) taken_.insert(name);
    for (const Node& node : model.graph.nodes) values_[node.name] = unique(node.name);
  }

  const OnnxGraph& write() {
    for (const Node& node : model_.graph.nodes) {
      node_ = &node;
      for (const Parameter& parameter : parameters_of(node)) {
        graph_.add_constant(parameter.name, parameter.shape,
                            dense_floats(model_.weights.at(parameter.name)));
      }
      std::visit(*this, node.op);
    }
    graph_.add_output(value(), shapes_.back(), onnx::element::kFloat);
    return graph_;
  }

  void operator()(const Input& op) {
    const auto& [shape, is_tokens] = op;
    graph_.add_input(value(), shapes_.front(),
                     is_tokens ? onnx::element::kInt64 : onnx::element::kFloat);
  }

  void operator()(const Conv& op) {
    const auto& [rank, in, out, kernel, stride, padding, dilation, groups, has_bias] = op;
    add("Conv", inputs_and_parameters(),
        {onnx_attribute("kernel_shape", extents(kernel, rank)),
         onnx_attribute("strides", extents(stride, rank)),
         onnx_attribute("pads", pads(padding, padding, rank)),
         onnx_attribute("dilations", extents(dilation, rank)), onnx_attribute("group", groups)});
  }

  void operator()(const Linear& op) {
    [[maybe_unused]] const auto& [in, out, has_bias] = op;
    add("Gemm", inputs_and_parameters(), {onnx_attribute("transB", 1)});
  }

  void operator()(const Relu& op) {
    const auto& [max_value] = op;
    if (!max_value) return add("Relu", inputs(), {});
    std::vector<std::string> names = inputs();
    for (const double bound : {0.0, *max_value}) {
      names.push_back(unique(node_->name + (bound == 0 ? "/min" : "/max")));
      graph_.add_constant(names.back(), {}, {static_cast<float>(bound)});
    }
    add("Clip", names, {});
  }

  void operator()(const Pool& op) {
    const auto& [kind, rank, kernel, stride, padding, padding_end, rounds_up, counts_padding] = op;
    std::vector<WireWriter> attributes = {
        onnx_attribute("kernel_shape", extents(kernel, rank)),
        onnx_attribute("strides", extents(stride, rank)),
        onnx_attribute("pads", pads(padding, padding_end.value_or(padding), rank))};
    if (rounds_up) attributes.push_back(onnx_attribute("ceil_mode", 1));
    const bool is_average = kind == PoolKind::average;
    if (is_average) {
      attributes.push_back(onnx_attribute("count_include_pad", counts_padding ? 1 : 0));
    }
    add(is_average ? "AveragePool" : "MaxPool", inputs(), attributes);
  }

  // ONNX leaves positions of size 1, which the graph does not have.
  void operator()(const GlobalPool& op) {
    const auto& [kind] = op;
    const bool is_average = kind == PoolKind::average;
    const std::string pooled = unique(node_->name + "/pooled");
    graph_.add_node(is_average ? "GlobalAveragePool" : "GlobalMaxPool", node_->name, inputs(),
                    pooled, {});
    graph_.add_node("Flatten", unique(node_->name + "/flatten"), {pooled}, value(),
                    {onnx_attribute("axis", 1)});
  }

  static_assert(std::is_empty_v<Add> && std::is_empty_v<Concat> && std::is_empty_v<Flatten> &&
                std::is_empty_v<Softmax>);
  void operator()(const Add&) { add(node_->inputs.size() == 2 ? "Add" : "Sum", inputs(), {}); }
  void operator()(const Concat&) { add("Concat", inputs(), {onnx_attribute("axis", 1)}); }
  void operator()(const Flatten&) { add("Flatten", inputs(), {onnx_attribute("axis", 1)}); }
  void operator()(const Softmax&) { add("Softmax", inputs(), {onnx_attribute("axis", -1)}); }

  // [N, L] -> [N, L, width] -> [N, width, L]
  void operator()(const Embedding& op) {
    [[maybe_unused]] const auto& [vocabulary, width] = op;
    const std::string rows = unique(node_->name + "/rows");
    graph_.add_node("Gather", node_->name, {weight_name(*node_), inputs().front()}, rows,
                    {onnx_attribute("axis", 0)});
    constexpr std::int64_t kOrder[] = {0, 2, 1};
    graph_.add_node("Transpose", unique(node_->name + "/transpose"), {rows}, value(),
                    {onnx_attribute("perm", kOrder)});
  }

  void operator()(const BatchNorm&) { refuse(); }
  void operator()(const Dropout&) { refuse(); }

 private:
  // check_deployed_model does not let them through.
  [[noreturn]] void refuse() const {
    fail(ErrorCode::internal, "node ", in_quotes(node_->name), ": ", op_name(node_->op),
         " in a deployed model");
  }

  // A name that no other value, constant or node has. ONNX lets no value be called as a constant
  // is, a graph lets a node be called as a weight is.
  std::string unique(std::string name) {
    while (!taken_.insert(name).second) name += "_";
    return name;
  }

  const std::string& value() const { return values_.at(node_->name); }

  std::vector<std::string> inputs() const {
    std::vector<std::string> names;
    for (const std::string& name : node_->inputs) names.push_back(values_.at(name));
    return names;
  }

  std::vector<std::string> inputs_and_parameters() const {
    std::vector<std::string> names = inputs();
    for (const Parameter& parameter : parameters_of(*node_)) names.push_back(parameter.name);
    return names;
  }

  void add(std::string_view op, const std::vector<std::string>& inputs,
           const std::vector<WireWriter>& attributes) {
    graph_.add_node(op, node_->name, inputs, value(), attributes);
  }

  const DeployedModel& model_;
  std::vector<Shape> shapes_;
  OnnxGraph graph_;
  std::set<std::string> taken_;
  std::map<std::string, std::string> values_;  // what a node's value is called
  const Node* node_ = nullptr;
};

std::map<std::string, std::string> metadata_of(const DeployedModel& model) {
  std::map<std::string, std::string> metadata = model.metadata;
  metadata["winnow.version"] = version_text();
  metadata["winnow.classes"] = nlohmann::json(model.classes).dump();
  metadata["winnow.preprocessing"] = nlohmann::json{
      {"mean", model.preprocessing.mean},
      {"deviation",
       model.preprocessing.deviation}}.dump();
  return metadata;
}

}  // namespace

void write_onnx(const std::string& path, const DeployedModel& model) {
  WireWriter file;
  file.integer(onnx::model::kIrVersion, kFormatVersion);
  file.text(onnx::model::kProducerName, "winnow");
  file.text(onnx::model::kProducerVersion, version_text());
  WireWriter operators;
  operators.text(onnx::operator_set::kDomain, "");
  operators.integer(onnx::operator_set::kVersion, kOnnxOperatorSet);
  file.message(onnx::model::kOperatorSet, operators);
  for (const auto& [key, text] : metadata_of(model)) {
    WireWriter entry;
    entry.text(onnx::entry::kKey, key);
    entry.text(onnx::entry::kValue, text);
    file.message(onnx::model::kMetadata, entry);
  }
  NodeWriter nodes(model);
  file.message(onnx::model::kGraph, nodes.write().message());
  file.save(path);
}

}  // namespace winnow
