#include "export/channel_paths.h"

#include <algorithm>

namespace winnow {
namespace {

class PathFinder {
 public:
  PathFinder(const Graph& graph, const std::vector<Shape>& shapes)
      : graph_(graph), shapes_(shapes) {}

  // Follows the value of node `index`. False if a reader blocks.
  bool follow(std::size_t index, const ChannelPath& so_far) {
    if (index + 1 == graph_.nodes.size()) return false;
    for (std::size_t reader = index + 1; reader < graph_.nodes.size(); ++reader) {
      const std::vector<std::string>& inputs = graph_.nodes[reader].inputs;
      for (std::size_t slot = 0; slot < inputs.size(); ++slot) {
        if (inputs[slot] == graph_.nodes[index].name && !enter(index, reader, slot, so_far)) {
          return false;
        }
      }
    }
    return true;
  }

  std::vector<ChannelPath> paths;

 private:
  bool enter(std::size_t from, std::size_t reader, std::size_t slot, ChannelPath path) {
    const Op& op = graph_.nodes[reader].op;
    const auto* conv = std::get_if<Conv>(&op);
    if ((conv && conv->groups == 1) || std::holds_alternative<Linear>(op)) {
      path.consumer = reader;
      paths.push_back(std::move(path));
      return true;
    }
    if (!passes(op)) return false;
    if (std::holds_alternative<Flatten>(op)) {
      const std::int64_t plane =
          element_count(shapes_[from]) / (shapes_[from][0] * shapes_[from][1]);
      path.offset *= plane;
      path.width *= plane;
    }
    if (std::holds_alternative<Concat>(op)) path.offset += channels_before(reader, slot);
    path.passed.push_back(reader);
    return follow(reader, path);
  }

  static bool passes(const Op& op) {
    return std::holds_alternative<Relu>(op) || std::holds_alternative<Pool>(op) ||
           std::holds_alternative<GlobalPool>(op) || std::holds_alternative<Flatten>(op) ||
           std::holds_alternative<Concat>(op) || std::holds_alternative<Dropout>(op);
  }

  std::int64_t channels_before(std::size_t concat, std::size_t slot) const {
    std::int64_t channels = 0;
    for (std::size_t i = 0; i < slot; ++i) {
      channels += shapes_[node_index(graph_, graph_.nodes[concat].inputs[i])][1];
    }
    return channels;
  }

  const Graph& graph_;
  const std::vector<Shape>& shapes_;
};

// Whether zeros of the padding count in some of its averages.
bool averages_zeros(const Node& node) {
  const auto* pool = std::get_if<Pool>(&node.op);
  const Pair none = {0, 0};
  return pool && pool->kind == PoolKind::average && pool->counts_padding &&
         (pool->padding != none || pool->padding_end.value_or(none) != none);
}

}  // namespace

std::optional<std::vector<ChannelPath>> channel_paths(const Graph& graph,
                                                      const std::vector<Shape>& shapes,
                                                      std::size_t producer) {
  PathFinder finder(graph, shapes);
  if (!finder.follow(producer, {})) return std::nullopt;
  return finder.paths;
}

std::optional<double> constant_behind(const Node& node, double constant) {
  if (const auto* relu = std::get_if<Relu>(&node.op)) {
    const double positive = std::max(0.0, constant);
    return std::min(positive, relu->max_value.value_or(positive));
  }
  if (averages_zeros(node) && constant != 0) return std::nullopt;
  return constant;
}

}  // namespace winnow
