#include "runtime/model/channel_classes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace winnow {
namespace {

using Channels = std::vector<std::size_t>;  // numbers of a value's channels, [C] or [features]

bool is_depthwise(const Conv& conv) {
  return conv.groups == conv.in_channels && conv.groups == conv.out_channels && conv.groups > 1;
}

// Follows channels through the graph; sets of them are a forest, as in union-find.
class Tracer {
 public:
  explicit Tracer(const Graph& graph) : graph_(graph), shapes_(infer_shapes(graph, 1)) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) values_.push_back(trace(i));
    fix(values_.back());
  }

  std::vector<ChannelClass> classes() {
    std::map<std::size_t, ChannelClass> by_root;
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      ChannelClass& all = by_root[root(i)];
      const ChannelClass& one = uses_[i];
      all.producers.insert(all.producers.end(), one.producers.begin(), one.producers.end());
      all.passing.insert(all.passing.end(), one.passing.begin(), one.passing.end());
      all.readers.insert(all.readers.end(), one.readers.begin(), one.readers.end());
      all.is_fixed = all.is_fixed || one.is_fixed;
    }
    std::vector<ChannelClass> classes;
    for (auto& [number, found] : by_root) {
      for (auto* uses : {&found.producers, &found.passing, &found.readers}) {
        std::sort(uses->begin(), uses->end());
      }
      classes.push_back(std::move(found));
    }
    std::stable_sort(
        classes.begin(), classes.end(), [](const ChannelClass& a, const ChannelClass& b) {
          return a.producers.empty()
                     ? !b.producers.empty()
                     : !b.producers.empty() && a.producers.front() < b.producers.front();
        });
    return classes;
  }

 private:
  std::int64_t channels_of(std::size_t node) const { return shapes_[node][1]; }

  Channels fresh(std::size_t node) {
    Channels channels(static_cast<std::size_t>(channels_of(node)));
    std::iota(channels.begin(), channels.end(), uses_.size());
    for (std::size_t i = 0; i < channels.size(); ++i) {
      parents_.push_back(uses_.size());
      uses_.emplace_back();
    }
    return channels;
  }

  std::size_t root(std::size_t channel) {
    while (parents_[channel] != channel) {
      parents_[channel] = parents_[parents_[channel]];
      channel = parents_[channel];
    }
    return channel;
  }

  void fix(const Channels& channels) {
    for (const std::size_t channel : channels) uses_[channel].is_fixed = true;
  }

  void use(const Channels& channels, std::vector<ChannelUse> ChannelClass::*kind,
           std::size_t node) {
    for (std::size_t i = 0; i < channels.size(); ++i) {
      (uses_[channels[i]].*kind).push_back({node, static_cast<std::int64_t>(i)});
    }
  }

  Channels produced(std::size_t node, const Channels& input) {
    use(input, &ChannelClass::readers, node);
    Channels output = fresh(node);
    use(output, &ChannelClass::producers, node);
    return output;
  }

  // Neither its inputs nor its outputs can go.
  Channels fixed(std::size_t node, const Channels& input) {
    fix(input);
    Channels output = fresh(node);
    fix(output);
    return output;
  }

  Channels passed(std::size_t node, const Channels& input) {
    use(input, &ChannelClass::passing, node);
    return input;
  }

  Channels convolved(const Conv& conv, std::size_t node, const Channels& input) {
    if (is_depthwise(conv)) return passed(node, input);
    return conv.groups == 1 ? produced(node, input) : fixed(node, input);
  }

  Channels added(const std::vector<const Channels*>& inputs) {
    for (const Channels* other : inputs) {
      for (std::size_t i = 0; i < other->size(); ++i) {
        const std::size_t a = root((*inputs[0])[i]), b = root((*other)[i]);
        parents_[std::max(a, b)] = std::min(a, b);
      }
    }
    return *inputs[0];
  }

  static Channels joined(const std::vector<const Channels*>& inputs) {
    Channels all;
    for (const Channels* part : inputs) all.insert(all.end(), part->begin(), part->end());
    return all;
  }

  Channels flattened(std::size_t node, const Channels& input) const {
    Channels features;
    const std::size_t plane = static_cast<std::size_t>(channels_of(node)) / input.size();
    for (const std::size_t channel : input) features.insert(features.end(), plane, channel);
    return features;
  }

  Channels trace(std::size_t node) {
    const Op& op = graph_.nodes[node].op;
    std::vector<const Channels*> inputs;
    for (const std::string& name : graph_.nodes[node].inputs) {
      inputs.push_back(&values_[node_index(graph_, name)]);
    }
    if (std::holds_alternative<Input>(op)) {
      const bool has_channels = shapes_[node].size() > 1;
      Channels channels = has_channels ? fresh(node) : Channels{};
      fix(channels);
      return channels;
    }
    if (const auto* conv = std::get_if<Conv>(&op)) return convolved(*conv, node, *inputs[0]);
    if (std::holds_alternative<Linear>(op)) return produced(node, *inputs[0]);
    if (std::holds_alternative<BatchNorm>(op)) return passed(node, *inputs[0]);
    if (std::holds_alternative<Add>(op)) return added(inputs);
    if (std::holds_alternative<Concat>(op)) return joined(inputs);
    if (std::holds_alternative<Flatten>(op)) return flattened(node, *inputs[0]);
    if (std::holds_alternative<Embedding>(op) || std::holds_alternative<Softmax>(op)) {
      return fixed(node, *inputs[0]);
    }
    return *inputs[0];  // relu, pool, global pool, dropout
  }

  const Graph& graph_;
  std::vector<Shape> shapes_;
  std::vector<Channels> values_;      // [nodes]
  std::vector<std::size_t> parents_;  // [channels]
  std::vector<ChannelClass> uses_;    // [channels], as they are used under this number
};

}  // namespace

std::vector<ChannelClass> channel_classes(const Graph& graph) {
  return Tracer(graph).classes();
}

}  // namespace winnow
