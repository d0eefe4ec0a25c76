#include "import/network_builder.h"

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/model/graph_edit.h"
#include "runtime/model/op_schema.h"
#include "runtime/model/output_shape.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

constexpr std::size_t kLongestWish = 100;  // leaves room for a number behind it

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '/';
}

}  // namespace

NetworkBuilder::NetworkBuilder(std::string name, Shape sample) {
  model_.graph.name = std::move(name);
  const Node node{"input", Input{sample, false}, {}};
  if (const std::string defect = find_defect(node.op); !defect.empty()) {
    fail(ErrorCode::usage, "input: ", defect);
  }
  model_.graph.nodes.push_back(node);
  shapes_.emplace(node.name, std::move(sample));
}

std::string NetworkBuilder::unique_name(std::string_view wish) const {
  std::string name(wish.substr(0, kLongestWish));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_name_letter(c); }, '_');
  if (name.empty()) name = "node";
  if (!shapes_.contains(name)) return name;
  for (std::size_t number = 2;; ++number) {
    std::string numbered = name + "_" + std::to_string(number);
    if (!shapes_.contains(numbered)) return numbered;
  }
}

std::string NetworkBuilder::add(std::string_view wish, Op op, std::vector<std::string> inputs) {
  const Node node{unique_name(wish), std::move(op), std::move(inputs)};
  const NodePlace place(model_.graph, node);
  if (const std::string defect = find_defect(node.op); !defect.empty()) place.refuse(defect);
  std::vector<Source> sources;
  for (const std::string& name : node.inputs) {
    Shape shape = shapes_.at(name);
    shape.insert(shape.begin(), 1);
    sources.push_back({name, std::move(shape), false});
  }
  Shape shape = output_shape(node.op, sources, place);
  place.require_size(shape, "output");
  shape.erase(shape.begin());
  shapes_.emplace(node.name, std::move(shape));
  model_.graph.nodes.push_back(node);
  return node.name;
}

void NetworkBuilder::set(const std::string& node, const std::string& part, Shape shape,
                         std::span<const float> values) {
  model_.tensors.insert_or_assign(node + "." + part, Tensor::from<float>(std::move(shape), values));
}

void NetworkBuilder::scale_weights(Node& node, std::span<const float> scale,
                                   std::span<const float> shift) {
  const std::span<float> bias = std::holds_alternative<BatchNorm>(node.op)
                                    ? model_.tensors.at(bias_name(node)).values<float>()
                                    : bias_of(model_, node);
  const std::span<float> weight = model_.tensors.at(weight_name(node)).values<float>();
  const std::size_t inner = weight.size() / scale.size();
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] *= scale[i / inner];
  for (std::size_t k = 0; k < scale.size(); ++k) bias[k] = bias[k] * scale[k] + shift[k];
}

std::string NetworkBuilder::scale_and_shift(std::string_view wish, const std::string& name,
                                            bool is_only_reader, std::span<const float> scale,
                                            std::span<const float> shift) {
  Node& node = model_.graph.nodes[node_index(model_.graph, name)];
  if (is_only_reader && (has_prunable_weight(node) || std::holds_alternative<BatchNorm>(node.op))) {
    scale_weights(node, scale, shift);
    return name;
  }
  // With a variance of 1 this epsilon changes no float.
  BatchNorm norm;
  norm.channels = static_cast<std::int64_t>(scale.size());
  norm.epsilon = 1e-12;
  const std::string added = add(wish, norm, {name});
  const Shape shape = {norm.channels};
  set(added, "weight", shape, scale);
  set(added, "bias", shape, shift);
  set(added, "running_mean", shape, std::vector<float>(scale.size(), 0.0F));
  set(added, "running_var", shape, std::vector<float>(scale.size(), 1.0F));
  return added;
}

Model NetworkBuilder::finish(const std::string& output) {
  std::set<std::string> needed = {output, input()};
  for (auto node = model_.graph.nodes.rbegin(); node != model_.graph.nodes.rend(); ++node) {
    if (needed.contains(node->name)) needed.insert(node->inputs.begin(), node->inputs.end());
  }
  for (const Node& node : model_.graph.nodes) {
    if (needed.contains(node.name)) continue;
    for (const Parameter& parameter : parameters_of(node)) model_.tensors.erase(parameter.name);
  }
  std::erase_if(model_.graph.nodes, [&](const Node& node) { return !needed.contains(node.name); });
  return std::move(model_);
}

}  // namespace winnow
