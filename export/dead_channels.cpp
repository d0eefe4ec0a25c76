#include "export/dead_channels.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "export/channel_cuts.h"
#include "export/channel_paths.h"
#include "export/coupled_channels.h"
#include "runtime/model/graph_edit.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

bool is_candidate(const Node& node) {
  const auto* conv = std::get_if<Conv>(&node.op);
  return (conv && conv->groups == 1) || std::holds_alternative<Linear>(node.op);
}

bool pads(const Node& node) {
  const auto* conv = std::get_if<Conv>(&node.op);
  return conv && (conv->padding[0] > 0 || conv->padding[1] > 0);
}

// Constant of channel k at the end of `path`; nothing if it is not constant there.
std::optional<double> constant_at_end(const Model& model, const WeightBlock& block,
                                      const Node& producer, std::int64_t k,
                                      const ChannelPath& path) {
  if (!block.is_zero(k, 0, block.inputs)) return std::nullopt;
  std::optional<double> constant = bias_at(model, producer, k);
  for (const std::size_t passed : path.passed) {
    if (constant) constant = constant_behind(model.graph.nodes[passed], *constant);
  }
  return constant;
}

// One producer, what reads it, and which of its channels go.
class Removal {
 public:
  Removal(Model& model, std::size_t producer, std::vector<ChannelPath> paths)
      : model_(model), producer_(producer), paths_(std::move(paths)), block_(model, node()) {
    for (const ChannelPath& path : paths_) {
      readers_.try_emplace(path.consumer, model, model.graph.nodes[path.consumer]);
    }
    removed_.resize(static_cast<std::size_t>(block_.outputs));
    for (std::int64_t k = 0; k < block_.outputs; ++k) removed_[index(k)] = is_removable(k);
    keep_whole_groups();
  }

  bool any() const { return std::find(removed_.begin(), removed_.end(), true) != removed_.end(); }
  std::int64_t count() const { return std::count(removed_.begin(), removed_.end(), true); }
  const std::vector<ChannelPath>& paths() const { return paths_; }

  void apply() {
    for (const ChannelPath& path : paths_) fold_constants(path);
    for (const auto& [consumer, block] : readers_) cut_inputs_of(consumer, block);
    cut_outputs(model_, producer_, removed_);
  }

 private:
  static std::size_t index(std::int64_t k) { return static_cast<std::size_t>(k); }
  Node& node() { return model_.graph.nodes[producer_]; }

  bool is_removable(std::int64_t k) {
    return std::all_of(paths_.begin(), paths_.end(), [&](const ChannelPath& path) {
      if (is_unread(k, path)) return true;
      const auto constant = constant_at_end(model_, block_, node(), k, path);
      return constant && (*constant == 0 || !pads(model_.graph.nodes[path.consumer]));
    });
  }

  bool is_unread(std::int64_t k, const ChannelPath& path) const {
    const WeightBlock& reader = readers_.at(path.consumer);
    for (std::int64_t o = 0; o < reader.outputs; ++o) {
      if (!reader.is_zero(o, path.offset + k * path.width, path.width)) return false;
    }
    return true;
  }

  // A vector mask keeps the alignment of its groups; a layer keeps its first group at least.
  void keep_whole_groups() {
    const auto vector = model_.mask_vector.find(node().name);
    const std::size_t group =
        vector == model_.mask_vector.end() ? 1 : static_cast<std::size_t>(vector->second);
    for (std::size_t first = 0; first < removed_.size(); first += group) {
      const auto begin = removed_.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end =
          removed_.begin() + static_cast<std::ptrdiff_t>(std::min(first + group, removed_.size()));
      if (std::find(begin, end, false) != end) std::fill(begin, end, false);
    }
    if (std::find(removed_.begin(), removed_.end(), false) == removed_.end()) {
      std::fill_n(removed_.begin(), std::min(group, removed_.size()), false);
    }
  }

  void fold_constants(const ChannelPath& path) {
    Node& consumer = model_.graph.nodes[path.consumer];
    const WeightBlock& reader = readers_.at(path.consumer);
    std::vector<double> shift(static_cast<std::size_t>(reader.outputs), 0.0);
    for (std::int64_t k = 0; k < block_.outputs; ++k) {
      if (!removed_[index(k)]) continue;
      const double c = constant_at_end(model_, block_, node(), k, path).value_or(0);
      if (c == 0) continue;
      for (std::int64_t o = 0; o < reader.outputs; ++o) {
        shift[index(o)] += c * reader.sum(o, path.offset + k * path.width, path.width);
      }
    }
    add_to_bias(consumer, shift);
  }

  void add_to_bias(Node& consumer, const std::vector<double>& shift) {
    if (std::all_of(shift.begin(), shift.end(), [](double s) { return s == 0; })) return;
    const std::span<float> bias = bias_of(model_, consumer);
    for (std::size_t o = 0; o < bias.size(); ++o) {
      bias[o] = static_cast<float>(static_cast<double>(bias[o]) + shift[o]);
    }
  }

  void cut_inputs_of(std::size_t consumer, const WeightBlock& block) {
    std::vector<bool> gone(static_cast<std::size_t>(block.inputs), false);
    for (const ChannelPath& path : paths_) {
      if (path.consumer != consumer) continue;
      for (std::int64_t k = 0; k < block_.outputs; ++k) {
        for (std::int64_t i = 0; removed_[index(k)] && i < path.width; ++i) {
          gone[index(path.offset + k * path.width + i)] = true;
        }
      }
    }
    cut_inputs(model_, consumer, gone);
  }

  Model& model_;
  std::size_t producer_;
  std::vector<ChannelPath> paths_;
  WeightBlock block_;
  std::map<std::size_t, WeightBlock> readers_;
  std::vector<bool> removed_;
};

// Counts removed channels per layer; graph nodes keep their order and number.
using Tally = std::map<std::size_t, RemovedChannels>;

bool remove_from(Model& model, std::size_t producer, Tally& tally) {
  if (!is_candidate(model.graph.nodes[producer])) return false;
  auto paths = channel_paths(model.graph, infer_shapes(model.graph, 1), producer);
  if (!paths || paths->empty()) return false;
  Removal removal(model, producer, std::move(*paths));
  if (!removal.any()) return false;
  removal.apply();
  tally[producer].outputs += removal.count();
  for (const ChannelPath& path : removal.paths()) {
    tally[path.consumer].inputs += removal.count() * path.width;
  }
  return true;
}

}  // namespace

std::vector<RemovedChannels> remove_dead_channels(Model& model) {
  Tally tally;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t i = 0; i < model.graph.nodes.size(); ++i) {
      has_changed = remove_from(model, i, tally) || has_changed;
    }
    has_changed = remove_coupled_channels(model, tally) || has_changed;
  }
  std::vector<RemovedChannels> removed;
  for (auto& [node, counts] : tally) {
    if (counts.outputs == 0 && counts.inputs == 0) continue;
    counts.layer = model.graph.nodes[node].name;
    removed.push_back(counts);
  }
  return removed;
}

}  // namespace winnow
