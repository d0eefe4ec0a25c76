// Masks of whole channels as checkpoints have them: masks of single weights.
#include <algorithm>
#include <utility>

#include "prune/training/channels/channel_units.h"
#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

using Bits = std::vector<std::uint8_t>;

bool is_kept(std::span<const std::uint8_t> kept, std::int64_t channel) {
  return channel == ChannelNode::kFixed || kept[static_cast<std::size_t>(channel)] != 0;
}

// The mask of a node's weight, row-major.
Bits weight_bits(const ChannelNode& node, std::span<const std::uint8_t> kept, std::size_t weights) {
  const std::size_t columns = std::max<std::size_t>(node.inputs.size(), 1);
  const std::size_t taps = weights / (node.outputs.size() * columns);
  Bits bits;
  bits.reserve(weights);
  for (const std::int64_t output : node.outputs) {
    for (std::size_t c = 0; c < columns; ++c) {
      const bool stays =
          is_kept(kept, output) && (node.inputs.empty() || is_kept(kept, node.inputs[c]));
      bits.insert(bits.end(), taps, stays ? 1 : 0);
    }
  }
  return bits;
}

// Whether the values of channel k, one of `channels`, are all 0.
template <typename T>
bool is_zero(std::span<const T> values, std::size_t k, std::size_t channels) {
  const std::size_t inner = values.size() / channels;
  const auto part = values.subspan(k * inner, inner);
  return std::all_of(part.begin(), part.end(), [](T value) { return value == T{0}; });
}

// Drops channels for which is_dead(node, k) says so of every node that computes or passes them;
// `counts` says of which nodes.
template <typename Counts, typename IsDead>
Bits dropped_where(const ChannelUnits& units, Counts counts, IsDead is_dead) {
  Bits kept(static_cast<std::size_t>(units.channels), 0);
  for (const ChannelNode& node : units.nodes) {
    if (!counts(node)) continue;
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.outputs[k] == ChannelNode::kFixed || is_dead(node, k)) continue;
      kept[static_cast<std::size_t>(node.outputs[k])] = 1;
    }
  }
  return kept;
}

void require_whole_channels(const ChannelUnits& units, std::span<const std::uint8_t> kept,
                            const Model& model) {
  for (const ChannelNode& node : units.nodes) {
    const Node& layer = model.graph.nodes[node.node];
    const auto mask = model.tensors.find(weight_name(layer) + ".mask");
    if (mask == model.tensors.end()) continue;
    const auto bits = std::as_const(mask->second).values<std::uint8_t>();
    const Bits expected = weight_bits(node, kept, bits.size());
    if (std::equal(bits.begin(), bits.end(), expected.begin(), expected.end())) continue;
    fail(ErrorCode::usage, "layer ", in_quotes(layer.name),
         ": its mask drops other weights than whole channels take along");
  }
}

}  // namespace

Bits masked_channels(const ChannelUnits& units, const Model& model) {
  const auto mask_of = [&](const ChannelNode& node) {
    return model.tensors.find(weight_name(model.graph.nodes[node.node]) + ".mask");
  };
  for (const auto& [name, vector] : model.mask_vector) {
    const bool has_unit = std::any_of(
        units.nodes.begin(), units.nodes.end(),
        [&](const ChannelNode& node) { return model.graph.nodes[node.node].name == name; });
    if (vector == 1 && has_unit) continue;
    fail(ErrorCode::usage, "layer ", in_quotes(name), ": its mask is not one of whole channels");
  }
  const Bits kept = dropped_where(
      units,
      [&](const ChannelNode& node) {
        return has_prunable_weight(model.graph.nodes[node.node]) && !node.inputs.empty();
      },
      [&](const ChannelNode& node, std::size_t k) {
        const auto mask = mask_of(node);
        return mask != model.tensors.end() &&
               is_zero(std::as_const(mask->second).values<std::uint8_t>(), k, node.outputs.size());
      });
  for (std::size_t u = 0; u < units.layers.size(); ++u) {
    const auto begin = kept.begin() + units.first[u];
    if (std::find(begin, begin + units.layers[u].blocks, 1) != begin + units.layers[u].blocks)
      continue;
    fail(ErrorCode::usage, "layer ", in_quotes(units.layers[u].name),
         ": its mask drops all channels, expected at least one");
  }
  require_whole_channels(units, kept, model);
  return kept;
}

Bits zero_channels(const ChannelUnits& units, const Model& model) {
  const auto is_dead = [&](const ChannelNode& node, std::size_t k) {
    const Node& layer = model.graph.nodes[node.node];
    const bool passes = node.inputs.empty();
    const bool is_norm = std::holds_alternative<BatchNorm>(layer.op);
    const auto is_zero_in = [&](const std::string& name) {
      const auto tensor = model.tensors.find(name);
      return tensor == model.tensors.end() ||
             is_zero(tensor->second.values<float>(), k, node.outputs.size());
    };
    const bool has_no_weight = passes && !is_norm ? true : is_zero_in(weight_name(layer));
    return has_no_weight && is_zero_in(bias_name(layer));
  };
  Bits kept = dropped_where(
      units, [](const ChannelNode&) { return true; }, is_dead);
  for (std::size_t u = 0; u < units.layers.size(); ++u) {
    const auto begin = kept.begin() + units.first[u];
    const auto end = begin + units.layers[u].blocks;
    if (std::find(begin, end, 1) == end) *begin = 1;
  }
  return kept;
}

void set_channel_masks(const ChannelUnits& units, std::span<const std::uint8_t> kept,
                       Model& model) {
  for (const ChannelNode& node : units.nodes) {
    const Node& layer = model.graph.nodes[node.node];
    if (!has_prunable_weight(layer)) continue;
    const std::string name = weight_name(layer);
    model.tensors.erase(name + ".mask");
    model.mask_vector.erase(layer.name);
    Tensor& weight = model.tensors.at(name);
    const auto values = weight.values<float>();
    const Bits bits = weight_bits(node, kept, values.size());
    if (std::find(bits.begin(), bits.end(), 0) == bits.end()) continue;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (bits[i] == 0) values[i] = 0.0f;
    }
    model.tensors.insert_or_assign(name + ".mask",
                                   Tensor::from<std::uint8_t>(weight.shape(), bits));
    model.mask_vector.insert_or_assign(layer.name, 1);
  }
}

}  // namespace winnow
