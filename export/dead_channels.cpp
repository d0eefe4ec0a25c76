#include "export/dead_channels.h"

#include <algorithm>
#include <map>
#include <optional>

#include "export/channel_paths.h"
#include "export/tensor_slices.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

// A conv or linear weight as a [outputs, inputs, taps] block of floats.
struct Block {
  std::vector<float> values;
  std::int64_t outputs = 0, inputs = 0, taps = 1;

  Block(const Model& model, const Node& node) {
    const Tensor weight = weight_of(model, node.name);
    const auto all = weight.values<float>();
    values.assign(all.begin(), all.end());
    outputs = weight.shape()[0];
    inputs = weight.shape()[1];
    taps = weight.count() / (outputs * inputs);
  }

  // Sum of the weights that output k multiplies inputs first .. first + count - 1 with.
  double sum(std::int64_t k, std::int64_t first, std::int64_t count) const {
    double total = 0;
    for_each(k, first, count, [&](float w) { total += static_cast<double>(w); });
    return total;
  }

  bool is_zero(std::int64_t k, std::int64_t first, std::int64_t count) const {
    bool zero = true;
    for_each(k, first, count, [&](float w) { zero = zero && w == 0; });
    return zero;
  }

 private:
  template <typename Visit>
  void for_each(std::int64_t k, std::int64_t first, std::int64_t count, Visit visit) const {
    const auto begin = static_cast<std::size_t>((k * inputs + first) * taps);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count * taps); ++i)
      visit(values[begin + i]);
  }
};

bool is_candidate(const Node& node) {
  const auto* conv = std::get_if<Conv>(&node.op);
  return (conv && conv->groups == 1) || std::holds_alternative<Linear>(node.op);
}

bool pads(const Node& node) {
  const auto* conv = std::get_if<Conv>(&node.op);
  return conv && (conv->padding[0] > 0 || conv->padding[1] > 0);
}

double bias_of(const Model& model, const Node& node, std::int64_t k) {
  const auto bias = model.tensors.find(bias_name(node));
  if (bias == model.tensors.end()) return 0;
  return bias->second.values<float>()[static_cast<std::size_t>(k)];
}

// Constant of channel k at the end of `path`; nothing if it is not constant there.
std::optional<double> constant_at_end(const Model& model, const Block& block, const Node& producer,
                                      std::int64_t k, const ChannelPath& path) {
  if (!block.is_zero(k, 0, block.inputs)) return std::nullopt;
  std::optional<double> constant = bias_of(model, producer, k);
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
    for (const auto& [consumer, block] : readers_) cut_inputs(consumer, block);
    cut_outputs();
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
    const Block& reader = readers_.at(path.consumer);
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
    const Block& reader = readers_.at(path.consumer);
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
    const auto found = model_.tensors.find(bias_name(consumer));
    std::vector<float> bias(shift.size(), 0.0f);
    if (found != model_.tensors.end()) {
      const auto old = found->second.values<float>();
      bias.assign(old.begin(), old.end());
    }
    for (std::size_t o = 0; o < bias.size(); ++o) {
      bias[o] = static_cast<float>(static_cast<double>(bias[o]) + shift[o]);
    }
    model_.tensors[bias_name(consumer)] =
        Tensor::from<float>({static_cast<std::int64_t>(bias.size())}, bias);
    if (auto* conv = std::get_if<Conv>(&consumer.op)) conv->has_bias = true;
    if (auto* linear = std::get_if<Linear>(&consumer.op)) linear->has_bias = true;
  }

  void cut_inputs(std::size_t consumer, const Block& block) {
    std::vector<bool> gone(static_cast<std::size_t>(block.inputs), false);
    for (const ChannelPath& path : paths_) {
      if (path.consumer != consumer) continue;
      for (std::int64_t k = 0; k < block_.outputs; ++k) {
        for (std::int64_t i = 0; removed_[index(k)] && i < path.width; ++i) {
          gone[index(path.offset + k * path.width + i)] = true;
        }
      }
    }
    Node& target = model_.graph.nodes[consumer];
    for (const char* part : {"", ".codes", ".mask"}) {
      const auto tensor = model_.tensors.find(weight_name(target) + part);
      if (tensor != model_.tensors.end()) tensor->second = without_slices(tensor->second, 1, gone);
    }
    const std::int64_t left = std::count(gone.begin(), gone.end(), false);
    if (auto* conv = std::get_if<Conv>(&target.op)) conv->in_channels = left;
    if (auto* linear = std::get_if<Linear>(&target.op)) linear->in_features = left;
  }

  void cut_outputs() {
    const std::string weight = weight_name(node());
    for (const std::string& name :
         {weight, weight + ".codes", weight + ".channel_scale", bias_name(node())}) {
      const auto tensor = model_.tensors.find(name);
      if (tensor != model_.tensors.end()) {
        tensor->second = without_slices(tensor->second, 0, removed_);
      }
    }
    const auto mask = model_.tensors.find(weight + ".mask");
    if (mask != model_.tensors.end()) {
      const auto group = static_cast<std::size_t>(model_.mask_vector.at(node().name));
      std::vector<bool> rows;
      for (std::size_t first = 0; first < removed_.size(); first += group) {
        rows.push_back(removed_[first]);
      }
      mask->second = without_slices(mask->second, 0, rows);
    }
    const std::int64_t left = block_.outputs - count();
    if (auto* conv = std::get_if<Conv>(&node().op)) conv->out_channels = left;
    if (auto* linear = std::get_if<Linear>(&node().op)) linear->out_features = left;
  }

  Model& model_;
  std::size_t producer_;
  std::vector<ChannelPath> paths_;
  Block block_;
  std::map<std::size_t, Block> readers_;
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
  }
  std::vector<RemovedChannels> removed;
  for (auto& [node, counts] : tally) {
    counts.layer = model.graph.nodes[node].name;
    removed.push_back(counts);
  }
  return removed;
}

}  // namespace winnow
