#include "prune/training/channels/channel_removal.h"

#include <string>
#include <variant>
#include <vector>

#include "runtime/model/tensor_slices.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

using Indices = std::vector<std::int64_t>;

Indices kept_places(const std::vector<std::int64_t>& channels, std::span<const std::uint8_t> kept) {
  Indices places;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const std::int64_t channel = channels[i];
    if (channel == ChannelNode::kFixed || kept[static_cast<std::size_t>(channel)] != 0) {
      places.push_back(static_cast<std::int64_t>(i));
    }
  }
  return places;
}

void take(Model& model, const std::string& name, std::size_t dimension, const Indices& places) {
  Tensor& tensor = model.tensors.at(name);
  tensor = taken_slices(tensor, dimension, places);
}

void resize_outputs(Node& layer, std::int64_t count) {
  if (auto* conv = std::get_if<Conv>(&layer.op)) {
    conv->out_channels = count;
    if (conv->groups > 1) conv->in_channels = conv->groups = count;  // depthwise
  }
  if (auto* linear = std::get_if<Linear>(&layer.op)) linear->out_features = count;
  if (auto* norm = std::get_if<BatchNorm>(&layer.op)) norm->channels = count;
}

void resize_inputs(Node& layer, std::int64_t count) {
  if (auto* conv = std::get_if<Conv>(&layer.op)) conv->in_channels = count;
  if (auto* linear = std::get_if<Linear>(&layer.op)) linear->in_features = count;
}

void remove_from(const ChannelNode& node, std::span<const std::uint8_t> kept, Model& model) {
  Node& layer = model.graph.nodes[node.node];
  const Indices outputs = kept_places(node.outputs, kept);
  for (const Parameter& parameter : parameters_of(layer)) {
    take(model, parameter.name, 0, outputs);
  }
  if (!node.inputs.empty()) {
    const Indices inputs = kept_places(node.inputs, kept);
    take(model, weight_name(layer), 1, inputs);
    resize_inputs(layer, std::ssize(inputs));
  }
  resize_outputs(layer, std::ssize(outputs));
}

}  // namespace

void remove_channels(const ChannelUnits& units, std::span<const std::uint8_t> kept, Model& model) {
  for (const ChannelNode& node : units.nodes) remove_from(node, kept, model);
}

}  // namespace winnow
