#include "prune/layer_removal.h"

#include <algorithm>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/graph_edit.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

[[noreturn]] void refuse(const Node& node, const std::string& why) {
  fail(ErrorCode::usage, "layer ", in_quotes(node.name), " cannot be removed: ", why);
}

Node& node_of(Model& model, const std::string& name) {
  return model.graph.nodes[node_index(model.graph, name)];
}

void bypass(Model& model, const std::string& name) {
  bypass_node(model, node_index(model.graph, name));
}

bool belongs_to_layer(const Node& node) {
  return std::holds_alternative<BatchNorm>(node.op) || std::holds_alternative<Relu>(node.op) ||
         std::holds_alternative<Dropout>(node.op);
}

const Node* only_reader(const Graph& graph, const std::string& name) {
  const std::vector<std::size_t> readers = readers_of(graph, name);
  return readers.size() == 1 ? &graph.nodes[readers.front()] : nullptr;
}

// The layer and what goes with it, in the order in which they are computed.
std::vector<std::string> parts_of_layer(const Graph& graph, const Node& layer) {
  std::vector<std::string> parts = {layer.name};
  const Node* next = only_reader(graph, layer.name);
  while (next != nullptr && belongs_to_layer(*next)) {
    parts.push_back(next->name);
    next = only_reader(graph, next->name);
  }
  return parts;
}

void require_reader(const Graph& graph, const Node& node, const std::string& last) {
  if (readers_of(graph, last).empty()) refuse(node, "it gives the network's output");
}

void require_same_shape(const Graph& graph, const Node& layer) {
  const std::vector<Shape> shapes = infer_shapes(graph, 1);
  const Shape& in = shapes[node_index(graph, layer.inputs.front())];
  const Shape& out = shapes[node_index(graph, layer.name)];
  if (in == out) return;
  refuse(layer, "it makes " + to_string(out) + " of " + to_string(in) +
                    ", expected a layer whose output has the shape of its input");
}

void remove_layer(Model& model, const Node& layer) {
  require_same_shape(model.graph, layer);
  const std::vector<std::string> parts = parts_of_layer(model.graph, layer);
  require_reader(model.graph, layer, parts.back());
  for (const std::string& part : parts) bypass(model, part);
}

// Whether `value` is computed of `source` alone.
bool comes_from(const Graph& graph, const std::string& value, const std::string& source) {
  std::set<std::string> found = {source};
  for (const Node& node : graph.nodes) {  // after their inputs
    const bool is_of_source =
        !node.inputs.empty() && std::ranges::all_of(node.inputs, [&](const std::string& input) {
          return found.contains(input);
        });
    if (is_of_source) found.insert(node.name);
  }
  return found.contains(value);
}

// The value that a residual branch is added to; nothing if the node adds no branch.
std::optional<std::string> skipped_value(const Graph& graph, const Node& add) {
  if (!std::holds_alternative<Add>(add.op) || add.inputs.size() != 2) return std::nullopt;
  const std::string &a = add.inputs[0], &b = add.inputs[1];
  if (a == b) return std::nullopt;
  if (comes_from(graph, a, b)) return b;
  if (comes_from(graph, b, a)) return a;
  return std::nullopt;
}

// Nodes that nobody reads, but for the network's output.
void remove_unread(Model& model) {
  std::vector<Node>& nodes = model.graph.nodes;
  for (std::size_t i = nodes.size() - 1; i-- > 1;) {
    if (readers_of(model.graph, nodes[i].name).empty()) erase_node(model, i);
  }
}

// Whether `relu` changes nothing of the value: it was rectified before, and perhaps pooled since.
bool is_rectified(const Graph& graph, const std::string& value, const Op& relu) {
  const Node& node = graph.nodes[node_index(graph, value)];
  const bool keeps_bounds =
      std::holds_alternative<Pool>(node.op) || std::holds_alternative<GlobalPool>(node.op);
  return node.op == relu || (keeps_bounds && is_rectified(graph, node.inputs.front(), relu));
}

// The ReLU that alone reads the add and changes nothing any more; empty if there is none.
std::string second_relu(const Graph& graph, const Node& add, const std::string& skipped) {
  const Node* const next = only_reader(graph, add.name);
  if (next == nullptr || !std::holds_alternative<Relu>(next->op)) return "";
  if (readers_of(graph, next->name).empty()) return "";
  return is_rectified(graph, skipped, next->op) ? next->name : "";
}

void remove_branch(Model& model, const Node& add, const std::string& skipped) {
  require_reader(model.graph, add, add.name);
  const std::string relu = second_relu(model.graph, add, skipped);
  node_of(model, add.name).inputs = {skipped};
  bypass(model, add.name);
  if (!relu.empty()) bypass(model, relu);
  remove_unread(model);
}

}  // namespace

std::vector<std::string> removable_layers(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) {
    if (!has_prunable_weight(node) && !std::holds_alternative<Add>(node.op)) continue;
    try {
      Model without;
      without.graph = graph;
      remove_layers(without, std::span(&node.name, 1));
      names.push_back(node.name);
    } catch (const Error&) {  // with the reason why not
    }
  }
  return names;
}

void remove_layers(Model& model, std::span<const std::string> names) {
  for (const std::string& name : names) {
    const Node node = node_of(model, name);
    const std::optional<std::string> skipped = skipped_value(model.graph, node);
    if (skipped) {
      remove_branch(model, node, *skipped);
    } else if (has_prunable_weight(node)) {
      remove_layer(model, node);
    } else {
      refuse(node, "it is a node '" + op_name(node.op) +
                       "', expected conv, linear or the add of a residual branch");
    }
  }
}

}  // namespace winnow
