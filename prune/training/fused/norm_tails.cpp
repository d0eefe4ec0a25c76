#include "prune/training/fused/norm_tails.h"

#include <string>
#include <variant>

namespace winnow {
namespace {

bool is_plain_relu(const Node& node) {
  const Relu* relu = std::get_if<Relu>(&node.op);
  return relu && !relu->max_value;
}

// By node the one that reads it, once, if no other does; else 0.
std::vector<std::size_t> only_readers(const Graph& graph) {
  std::vector<std::size_t> count(graph.nodes.size()), last(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string& name : graph.nodes[i].inputs) {
      const std::size_t input = node_index(graph, name);
      ++count[input];
      last[input] = i;
    }
  }
  for (std::size_t i = 0; i < count.size(); ++i) {
    if (count[i] != 1) last[i] = 0;
  }
  return last;
}

// What `reader` adds to `node`, if it is a sum of two; else `node`.
std::size_t addend_of(const Graph& graph, std::size_t node, std::size_t reader) {
  const Node& add = graph.nodes[reader];
  if (reader == 0 || !std::holds_alternative<Add>(add.op) || add.inputs.size() != 2) return node;
  const std::size_t first = node_index(graph, add.inputs[0]);
  const std::size_t other = first == node ? node_index(graph, add.inputs[1]) : first;
  return other;
}

}  // namespace

std::vector<NormTail> tails_of_norms(const Graph& graph) {
  const std::vector<std::size_t> readers = only_readers(graph);
  const auto relu_behind = [&](std::size_t i) {
    return readers[i] > 0 && is_plain_relu(graph.nodes[readers[i]]) ? readers[i] : 0;
  };
  std::vector<NormTail> tails(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!std::holds_alternative<BatchNorm>(graph.nodes[i].op)) continue;
    const std::size_t addend = addend_of(graph, i, readers[i]);
    tails[i] = addend < i
                   ? NormTail{.add = readers[i], .addend = addend, .relu = relu_behind(readers[i])}
                   : NormTail{.relu = relu_behind(i)};
  }
  return tails;
}

}  // namespace winnow
