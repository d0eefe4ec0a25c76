#include "quantize/activation_range.h"

#include <algorithm>
#include <type_traits>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/graph_edit.h"
#include "runtime/model/model_state_json.h"

namespace winnow {
namespace {

// True if the op's value is not on the grid of what it reads.
bool makes_new_values(const Op& op) {
  return std::visit(
      [](const auto& o) {
        using T = std::decay_t<decltype(o)>;
        if constexpr (std::is_same_v<T, Input>) {
          return !o.is_tokens;
        } else if constexpr (std::is_same_v<T, Pool> || std::is_same_v<T, GlobalPool>) {
          return o.kind == PoolKind::average;
        } else {
          return !(std::is_same_v<T, Flatten> || std::is_same_v<T, Dropout> ||
                   std::is_same_v<T, Concat> || std::is_same_v<T, Softmax>);
        }
      },
      op);
}

bool is_read_by_relu_only(const Graph& graph, const Node& node) {
  const std::vector<std::size_t> readers = readers_of(graph, node.name);
  return readers.size() == 1 && std::holds_alternative<Relu>(graph.nodes[readers[0]].op);
}

// The node whose value is the answer, before a softmax at the end.
const std::string& answer_node(const Graph& graph) {
  const Node& last = graph.nodes.back();
  return std::holds_alternative<Softmax>(last.op) ? last.inputs[0] : last.name;
}

}  // namespace

void set_activation_formats(Model& model, int total_bits, RangeRule rule,
                            const std::map<std::string, Histogram>& observed) {
  std::map<std::string, int> frac;
  for (const Node& node : model.graph.nodes) {
    const bool is_rounded = makes_new_values(node.op) && node.name != answer_node(model.graph) &&
                            !is_read_by_relu_only(model.graph, node);
    if (!is_rounded) continue;
    const auto found = observed.find(node.name);
    if (found == observed.end()) {
      fail(ErrorCode::usage, model.graph.name, ": activations of node ", in_quotes(node.name),
           " were not observed");
    }
    const FixedPoint format = format_for_histogram(found->second, total_bits, rule);
    frac[node.name] = std::clamp(format.frac_bits, -kMaxFractionalBits, kMaxFractionalBits);
  }
  model.activation_bits = total_bits;
  model.activation_frac = std::move(frac);
}

}  // namespace winnow
