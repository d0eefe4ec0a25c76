#include "prune/training/channels/channel_permutation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "prune/training/channels/channel_groups.h"
#include "runtime/model/architectures.h"
#include "tests/model/graphs.h"
#include "tests/quantize/random_networks.h"
#include "tests/training/tangled_graph.h"

namespace winnow {
namespace {

using Order = std::vector<std::int64_t>;

Order unchanged(const ChannelUnits& units) {
  Order order(static_cast<std::size_t>(units.channels));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  return order;
}

Order shuffled(const ChannelUnits& units, std::uint64_t seed) {
  Random random(seed);
  Order order = unchanged(units);
  for (std::size_t u = 0; u < units.layers.size(); ++u) {
    const std::int64_t count = units.layers[u].blocks;
    const std::vector<std::int64_t> own = permutation(count, random);
    for (std::int64_t i = 0; i < count; ++i) {
      order[static_cast<std::size_t>(units.first[u] + i)] =
          units.first[u] + own[static_cast<std::size_t>(i)];
    }
  }
  return order;
}

std::vector<float> sorted(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  std::vector<float> all(values.begin(), values.end());
  std::sort(all.begin(), all.end());
  return all;
}

double kept_of(const Model& model, const LayerMasks& masks) {
  const auto weights = model.tensors.at(masks.name + ".weight").values<float>();
  ComputedChannels layer{{weights.begin(), weights.end()}, masks.density};
  for (float& value : layer.squares) value *= value;
  Order order(static_cast<std::size_t>(model.tensors.at(masks.name + ".weight").shape()[0]));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  return kept_share(layer, order, masks.vector);
}

}  // namespace

TEST_CASE("a network computes the same with its channels in another order") {
  for (const Graph& graph : graphs_with_channels()) {
    CAPTURE(graph.name);
    const ChannelUnits units = channel_units(graph);
    const Model model = random_network(graph, 3);
    Model moved = model;
    permute_channels(units, shuffled(units, 4), moved);
    for (const auto& [name, tensor] : model.tensors) {
      CAPTURE(name);
      CHECK(moved.tensors.at(name).shape() == tensor.shape());
      CHECK(sorted(moved.tensors.at(name)) == sorted(tensor));
    }
    CHECK_FALSE((moved.tensors == model.tensors));
    CHECK(relative_difference(evaluate(model), evaluate(moved)) < 1e-4);
  }
}

TEST_CASE("a permutation and its inverse leave every parameter where it was") {
  const ChannelUnits units = channel_units(tangled_graph());
  const Model model = random_network(tangled_graph(), 3);
  const Order order = shuffled(units, 8);
  Order inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  Model moved = model;
  permute_channels(units, order, moved);
  permute_channels(units, inverse, moved);
  CHECK((moved.tensors == model.tensors));
}

TEST_CASE("layers with masks of vectors keep more, others decide nothing") {
  const ChannelUnits units = channel_units(tangled_graph());
  const Model model = random_network(tangled_graph(), 3);
  const std::vector<LayerMasks> masks = {
      {"a", 8, 0.3}, {"b", 8, 0.2}, {"c", 1, 0.1}, {"d", 8, 1.0}, {"fc1", 16, 0.25}};
  const Order order = permutation_for(units, model, masks);
  Model moved = model;
  permute_channels(units, order, moved);
  CHECK(relative_difference(evaluate(model), evaluate(moved)) < 1e-4);
  CHECK(kept_of(moved, masks[0]) + kept_of(moved, masks[1]) >
        kept_of(model, masks[0]) + kept_of(model, masks[1]));
  CHECK(kept_of(moved, masks[4]) > kept_of(model, masks[4]));
  const auto rows_of_c = [](const Model& one) {
    std::vector<float> sums;  // a row's, whatever its inputs' order
    const auto weights = one.tensors.at("c.weight").values<float>();
    for (std::size_t k = 0; k < 24; ++k) {
      std::vector<float> row(weights.begin() + static_cast<std::ptrdiff_t>(16 * k),
                             weights.begin() + static_cast<std::ptrdiff_t>(16 * (k + 1)));
      std::sort(row.begin(), row.end());
      sums.insert(sums.end(), row.begin(), row.end());
    }
    return sums;
  };
  CHECK(rows_of_c(moved) == rows_of_c(model));
}

TEST_CASE("without masks of vectors channels stay") {
  const ChannelUnits units = channel_units(tangled_graph());
  const Model model = random_network(tangled_graph(), 3);
  CHECK(permutation_for(units, model, {}) == unchanged(units));
  const std::vector<LayerMasks> elements = {{"a", 1, 0.3}, {"fc1", 1, 0.2}};
  CHECK(permutation_for(units, model, elements) == unchanged(units));
}

}  // namespace winnow
