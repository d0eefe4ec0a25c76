#include "prune/training/fused/norm_tails.h"

#include <variant>

#include "runtime/model/graph_edit.h"

namespace winnow {
namespace {

bool is_plain_relu(const Node& node) {
  const Relu* relu = std::get_if<Relu>(&node.op);
  return relu && !relu->max_value;
}

// The node that alone reads this one; 0 if none or several do.
std::size_t only_reader(const Graph& graph, std::size_t node) {
  const std::vector<std::size_t> readers = readers_of(graph, graph.nodes[node].name);
  return readers.size() == 1 ? readers[0] : 0;
}

std::size_t relu_behind(const Graph& graph, std::size_t node) {
  const std::size_t reader = only_reader(graph, node);
  return reader > 0 && is_plain_relu(graph.nodes[reader]) ? reader : 0;
}

// What `reader` adds to `node`, if it is a sum of two; else `node`.
std::size_t addend_of(const Graph& graph, std::size_t node, std::size_t reader) {
  const Node& add = graph.nodes[reader];
  if (reader == 0 || !std::holds_alternative<Add>(add.op) || add.inputs.size() != 2) return node;
  const std::size_t first = node_index(graph, add.inputs[0]);
  return first == node ? node_index(graph, add.inputs[1]) : first;
}

}  // namespace

std::vector<NormTail> tails_of_norms(const Graph& graph) {
  std::vector<NormTail> tails(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!std::holds_alternative<BatchNorm>(graph.nodes[i].op)) continue;
    const std::size_t reader = only_reader(graph, i), addend = addend_of(graph, i, reader);
    tails[i] = addend < i
                   ? NormTail{.add = reader, .addend = addend, .relu = relu_behind(graph, reader)}
                   : NormTail{.relu = relu_behind(graph, i)};
  }
  return tails;
}

}  // namespace winnow
