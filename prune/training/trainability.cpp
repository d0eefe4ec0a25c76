#include "prune/training/trainability.h"

#include <algorithm>

#include "prune/training/channels/channel_units.h"
#include "runtime/base/divided_up.h"
#include "runtime/base/error.h"
#include "runtime/model/weight_parts.h"

namespace winnow {

namespace {

std::vector<PrunableLayer> layers_of_channels(const Model& model) {
  const ChannelUnits units = channel_units(model.graph);
  const std::vector<std::uint8_t> kept = masked_channels(units, model);
  std::vector<PrunableLayer> layers = units.layers;
  for (std::size_t u = 0; u < layers.size(); ++u) {
    const auto first = kept.begin() + units.first[u];
    const auto dropped = std::count(first, first + layers[u].blocks, std::uint8_t{0});
    layers[u].initial_sparsity =
        static_cast<double>(dropped) / static_cast<double>(layers[u].blocks);
  }
  return layers;
}

std::vector<PrunableLayer> with_initial_sparsities(std::vector<PrunableLayer> layers,
                                                   const Model& model) {
  for (PrunableLayer& layer : layers) {
    const auto found = model.tensors.find(layer.name + ".weight.mask");
    if (found == model.tensors.end()) continue;
    const auto bits = found->second.values<std::uint8_t>();
    const auto dropped = std::count(bits.begin(), bits.end(), std::uint8_t{0});
    layer.initial_sparsity = static_cast<double>(dropped) / static_cast<double>(layer.blocks);
  }
  return layers;
}

}  // namespace

std::vector<std::int64_t> vectors_of(const Graph& graph, std::int64_t vector) {
  const auto layers = std::ranges::count_if(graph.nodes, has_prunable_weight);
  return std::vector<std::int64_t>(static_cast<std::size_t>(layers), vector == kMixed ? 1 : vector);
}

std::vector<PrunableLayer> prunable_layers(const Graph& graph, std::int64_t vector) {
  if (vector == kWholeChannels) return channel_units(graph).layers;
  return prunable_layers(graph, vectors_of(graph, vector));
}

std::vector<PrunableLayer> prunable_layers(const Graph& graph,
                                           std::span<const std::int64_t> vectors) {
  const std::vector<Shape> shapes = infer_shapes(graph, 1);
  std::vector<PrunableLayer> layers;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!has_prunable_weight(node)) continue;
    const std::int64_t vector = vectors[layers.size()];
    const Shape shape = parameters_of(node).front().shape;
    const std::int64_t weights = element_count(shape);
    const double macs = static_cast<double>(dense_macs(graph, shapes, i));
    layers.push_back({.name = node.name,
                      .blocks = divided_up(shape[0], vector) * (weights / shape[0]),
                      .weights_per_block = std::min(vector, shape[0]),
                      .weights = weights,
                      .macs_per_weight = macs / static_cast<double>(weights),
                      .shape = shape});
  }
  return layers;
}

std::vector<PrunableLayer> prunable_layers(const Model& model, std::int64_t vector) {
  if (vector == kWholeChannels) return layers_of_channels(model);
  return with_initial_sparsities(prunable_layers(model.graph, vector), model);
}

std::vector<PrunableLayer> prunable_layers(const Model& model,
                                           std::span<const std::int64_t> vectors) {
  return with_initial_sparsities(prunable_layers(model.graph, vectors), model);
}

std::vector<PrunableLayer> with_rows(std::vector<PrunableLayer> layers, bool row_balance) {
  if (!row_balance) return layers;
  for (PrunableLayer& layer : layers) {
    layer.balanced_rows = layer.blocks / (layer.weights / layer.shape[0]);
  }
  return layers;
}

void require_input(const Graph& graph, const ImageSet& images) {
  const Shape expected = infer_shapes(graph, 1).front();
  Shape found = images.sample_shape();
  found.insert(found.begin(), 1);
  const bool takes_tokens = token_rows(graph) > 0;
  if (images.token_count > 0 && takes_tokens && images.token_count > token_rows(graph)) {
    fail(ErrorCode::usage, graph.name, ": the vocabulary makes ", images.token_count,
         " tokens, the network's embedding has ", token_rows(graph), " rows");
  }
  if (found == expected && takes_tokens == images.holds_tokens()) return;
  fail(ErrorCode::usage, graph.name, images.holds_tokens() ? ": sentences are " : ": images are ",
       to_string(found), ", the network's input is ", to_string(expected),
       takes_tokens ? " tokens" : "");
}

void require_fit(const Graph& graph, const DataSet& data) {
  require_input(graph, data.train);
  const Shape found = infer_shapes(graph, 1).back();
  const std::size_t classes = data.train.classes.size();
  const Shape expected = {1, static_cast<std::int64_t>(classes)};
  if (found == expected) return;
  fail(ErrorCode::usage, graph.name, ": the network's output is ", to_string(found), ", ", classes,
       " classes need ", to_string(expected));
}

}  // namespace winnow
