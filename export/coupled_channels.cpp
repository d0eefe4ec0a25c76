#include "export/coupled_channels.h"

#include <algorithm>
#include <vector>

#include "export/channel_cuts.h"
#include "runtime/model/channel_classes.h"

namespace winnow {
namespace {

class ClassRemoval {
 public:
  explicit ClassRemoval(Model& model) : model_(model), classes_(channel_classes(model.graph)) {
    for (const ChannelClass& one : classes_) goes_.push_back(is_removable(one));
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      for (const auto* uses : {&classes_[i].producers, &classes_[i].passing}) {
        for (const ChannelUse& use : *uses) owned_[use.node].push_back({i, use.index});
      }
    }
    while (spare_partial_groups()) {
    }
  }

  bool any() const { return std::find(goes_.begin(), goes_.end(), true) != goes_.end(); }

  void apply(std::map<std::size_t, RemovedChannels>& tally) {
    std::map<std::size_t, std::vector<bool>> outputs, inputs;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      for (const auto* uses : {&classes_[i].producers, &classes_[i].passing}) {
        for (const ChannelUse& use : *uses) mark(outputs, use, goes_[i]);
      }
      for (const ChannelUse& use : classes_[i].readers) mark(inputs, use, goes_[i]);
    }
    for (const auto& [node, removed] : outputs) {
      const auto count = std::count(removed.begin(), removed.end(), true);
      if (count > 0) cut_outputs(model_, node, removed);
      tally[node].outputs += count;
    }
    for (const auto& [node, removed] : inputs) {
      const auto count = std::count(removed.begin(), removed.end(), true);
      if (count > 0) cut_inputs(model_, node, removed);
      tally[node].inputs += count;
    }
  }

 private:
  const Node& node_of(const ChannelUse& use) const { return model_.graph.nodes[use.node]; }

  const WeightBlock& block_of(const ChannelUse& use) {
    return blocks_.try_emplace(use.node, model_, node_of(use)).first->second;
  }

  bool is_removable(const ChannelClass& one) {
    if (one.is_fixed || one.producers.empty()) return false;
    return is_zero(one) || is_unread(one);
  }

  bool is_zero(const ChannelClass& one) {
    return std::all_of(one.producers.begin(), one.producers.end(),
                       [&](const ChannelUse& use) {
                         const WeightBlock& block = block_of(use);
                         return bias_at(model_, node_of(use), use.index) == 0 &&
                                block.is_zero(use.index, 0, block.inputs);
                       }) &&
           std::all_of(one.passing.begin(), one.passing.end(), [&](const ChannelUse& use) {
             return bias_at(model_, node_of(use), use.index) == 0;
           });
  }

  bool is_unread(const ChannelClass& one) {
    return std::all_of(one.readers.begin(), one.readers.end(), [&](const ChannelUse& use) {
      const WeightBlock& block = block_of(use);
      for (std::int64_t k = 0; k < block.outputs; ++k) {
        if (!block.is_zero(k, use.index, 1)) return false;
      }
      return true;
    });
  }

  struct Owned {          // a channel of some node
    std::size_t one = 0;  // its class
    std::int64_t channel = 0;
  };

  // True if some class has to stay after all: part of its group in a mask does, or nothing would be
  // left of a layer.
  bool spare_partial_groups() {
    bool has_changed = false;
    for (const auto& [node, channels] : owned_) {
      const bool is_empty = std::all_of(channels.begin(), channels.end(),
                                        [&](const Owned& c) { return goes_[c.one]; });
      if (is_empty) has_changed = spare(channels.front().one) || has_changed;
      const auto vector = model_.mask_vector.find(model_.graph.nodes[node].name);
      if (vector == model_.mask_vector.end() || vector->second == 1) continue;
      std::map<std::int64_t, bool> stays;  // by group
      for (const Owned& c : channels) {
        bool& group = stays[c.channel / vector->second];
        group = group || !goes_[c.one];
      }
      for (const Owned& c : channels) {
        if (stays[c.channel / vector->second]) has_changed = spare(c.one) || has_changed;
      }
    }
    return has_changed;
  }

  bool spare(std::size_t i) {
    const bool has_changed = goes_[i];
    goes_[i] = false;
    return has_changed;
  }

  // Each use is seen once.
  static void mark(std::map<std::size_t, std::vector<bool>>& removed, const ChannelUse& use,
                   bool goes) {
    std::vector<bool>& all = removed[use.node];
    const auto index = static_cast<std::size_t>(use.index);
    if (all.size() <= index) all.resize(index + 1, false);
    all[index] = goes;
  }

  Model& model_;
  std::vector<ChannelClass> classes_;
  std::vector<bool> goes_;                           // [classes]
  std::map<std::size_t, std::vector<Owned>> owned_;  // by node, of what it writes
  std::map<std::size_t, WeightBlock> blocks_;        // by node
};

}  // namespace

bool remove_coupled_channels(Model& model, std::map<std::size_t, RemovedChannels>& tally) {
  ClassRemoval removal(model);
  if (!removal.any()) return false;
  removal.apply(tally);
  return true;
}

}  // namespace winnow
