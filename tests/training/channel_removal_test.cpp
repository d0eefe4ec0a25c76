#include "prune/training/channels/channel_removal.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/model/graphs.h"
#include "tests/quantize/random_networks.h"
#include "tests/training/tangled_graph.h"

namespace winnow {
namespace {

using Bits = std::vector<std::uint8_t>;

Bits random_choice(const ChannelUnits& units, std::uint64_t seed) {
  Random random(seed);
  Bits kept;
  for (const PrunableLayer& unit : units.layers) {
    const std::size_t first = kept.size();
    for (std::int64_t i = 0; i < unit.blocks; ++i) kept.push_back(random.chance(0.5) ? 1 : 0);
    if (std::find(kept.begin() + static_cast<std::ptrdiff_t>(first), kept.end(), 1) == kept.end()) {
      kept[first] = 1;
    }
  }
  return kept;
}

// Zeros in all that computes or passes a channel that is not kept.
void drop(const ChannelUnits& units, const Bits& kept, Model& model) {
  for (const ChannelNode& node : units.nodes) {
    for (const Parameter& parameter : parameters_of(model.graph.nodes[node.node])) {
      if (parameter.name.ends_with("running_var")) continue;
      const auto values = model.tensors.at(parameter.name).values<float>();
      const std::size_t row = values.size() / node.outputs.size();
      for (std::size_t k = 0; k < node.outputs.size(); ++k) {
        const std::int64_t channel = node.outputs[k];
        if (channel == ChannelNode::kFixed || kept[static_cast<std::size_t>(channel)]) continue;
        std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(k * row), row, 0.0f);
      }
    }
  }
}

}  // namespace

TEST_CASE("a network without its channels of zeros computes the same and is smaller") {
  for (const Graph& graph : graphs_with_channels()) {
    CAPTURE(graph.name);
    const ChannelUnits units = channel_units(graph);
    Model model = random_network(graph, 3);
    const Bits kept = random_choice(units, 5);
    drop(units, kept, model);
    REQUIRE(zero_channels(units, model) == kept);
    Model smaller = model;
    remove_channels(units, kept, smaller);
    check_model(smaller, "smaller");
    const auto dropped = std::count(kept.begin(), kept.end(), 0);
    CHECK(channel_units(smaller.graph).channels == units.channels - dropped);
    CHECK(relative_difference(evaluate(model), evaluate(smaller)) < 1e-5);
  }
}

TEST_CASE("a network that keeps all of its channels stays as it is") {
  const ChannelUnits units = channel_units(tangled_graph());
  const Model model = random_network(tangled_graph(), 3);
  Model same = model;
  remove_channels(units, Bits(static_cast<std::size_t>(units.channels), 1), same);
  CHECK((same.tensors == model.tensors));
  CHECK((same.graph == model.graph));
}

}  // namespace winnow
