#include "prune/training/channels/channel_units.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "prune/evolution/budget/layer_budget.h"
#include "prune/training/trainability.h"
#include "runtime/model/architectures.h"
#include "runtime/model/weight_parts.h"
#include "tests/model/graphs.h"
#include "tests/quantize/random_networks.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using Bits = std::vector<std::uint8_t>;
using Names = std::vector<std::string>;

// a and c meet in the add; b is between them. Only 3 x 3 kernels.
Graph residual() {
  return graph_of({2, 6, 6}, {{"a", conv(2, 4, 3, 1), {"input"}},
                              {"norm", BatchNorm{4}, {"a"}},
                              {"relu", Relu{}, {"norm"}},
                              {"b", conv(4, 3, 3, 1), {"relu"}},
                              {"c", conv(3, 4, 3, 1), {"b"}},
                              {"sum", Add{}, {"relu", "c"}},
                              {"pool", GlobalPool{}, {"sum"}},
                              {"fc", Linear{4, 5, true}, {"pool"}}});
}

// As residual(), with a concat and a depthwise convolution, and an add that joins what two layers
// compute with what one does.
Graph tangled() {
  Conv depthwise = conv(4, 4, 3, 1);
  depthwise.groups = 4;
  return graph_of({2, 6, 6}, {{"a", conv(2, 4, 3, 1), {"input"}},
                              {"deep", depthwise, {"a"}},
                              {"b", conv(4, 3, 3, 1), {"deep"}},
                              {"both", Concat{}, {"a", "b"}},
                              {"norm", BatchNorm{7}, {"both"}},
                              {"c", conv(7, 7, 1), {"norm"}},
                              {"sum", Add{}, {"both", "c"}},
                              {"d", conv(7, 6, 3), {"sum"}},
                              {"flat", Flatten{}, {"d"}},
                              {"fc1", Linear{96, 8, true}, {"flat"}},
                              {"fc2", Linear{8, 5, true}, {"fc1"}}});
}

TEST_CASE("layers whose outputs are added are one unit") {
  const ChannelUnits units = channel_units(residual());
  REQUIRE(units.layers.size() == 2);
  const PrunableLayer &both = units.layers[0], &b = units.layers[1];
  CHECK(both.name == "a");
  CHECK(both.members == Names{"a", "c"});
  CHECK(both.blocks == 4);
  CHECK(both.weights_per_block == 2 * 9 + 3 * 9);
  CHECK(both.weights == 4 * 45);
  CHECK(both.macs_per_weight == 36);
  CHECK(both.shape == Shape{4, 3, 3, 3});  // c's filters are larger
  CHECK(b.members == Names{"b"});
  CHECK(b.blocks == 3);
  CHECK(units.channels == 7);
}

TEST_CASE("a channel costs its filters and what reads it, and each weight counts once") {
  const ChannelUnits units = channel_units(residual());
  EvolutionConfig config;
  const LayerBudget budget(config, units.layers);
  // a: 18 for a channel; b: 9 for a pair with a channel of the sum; c likewise; fc: 5 for one.
  const auto weights = [](double sum, double b) {
    return 18 * sum + 9 * sum * b + 9 * sum * b + 5 * sum;
  };
  const std::vector<std::int64_t> kept = {2 * 45, 1 * 36};  // channels times filters
  CHECK(budget.weight_density(kept) == doctest::Approx(weights(2, 1) / weights(4, 3)));
  config.budget = Budget::macs;  // fc counts once, the others at 36 positions
  const auto macs = [&](double sum, double b) { return 36 * weights(sum, b) - 35 * 5 * sum; };
  const LayerBudget by_macs(config, units.layers);
  CHECK(by_macs.density(kept) == doctest::Approx(macs(2, 1) / macs(4, 3)));
  CHECK(by_macs.planned_density(std::vector<double>{0.5, 0.66}) ==
        doctest::Approx(macs(2, 1) / macs(4, 3)));
}

TEST_CASE("an excluded unit keeps its channels, and its filters are outside the budget") {
  EvolutionConfig config;
  config.exclude = {"c"};  // a member is enough
  const LayerBudget budget(config, channel_units(residual()).layers);
  CHECK(budget.range(0).excluded);
  CHECK(budget.density(std::vector<std::int64_t>{4 * 45, 1 * 36}) == doctest::Approx(1 / 3.0));
  config.exclude = {"fc"};
  CHECK(message_of([&] { LayerBudget(config, channel_units(residual()).layers); }) ==
        "exclude: no prunable layer 'fc'; did you mean 'c'?");
}

TEST_CASE("channels with other readers are units of their own") {
  const ChannelUnits units = channel_units(tangled());
  std::vector<Names> members;
  Names names;
  for (const PrunableLayer& layer : units.layers) {
    members.push_back(layer.members);
    names.push_back(layer.name);
  }
  CHECK(members == std::vector<Names>{{"a", "c"}, {"b", "c"}, {"d"}, {"fc1"}});
  CHECK(names == Names{"a", "b", "d", "fc1"});
}

TEST_CASE("built-in networks: units and channels") {
  const ArchitectureOptions options = {.input = {3, 32, 32}, .classes = 10};
  const auto count = [&](const char* name) {
    const ChannelUnits units = channel_units(build_architecture(name, options));
    return std::pair(units.layers.size(), units.channels);
  };
  CHECK(count("vgg16") == std::pair(std::size_t{13}, std::int64_t{4224}));
  // Inside each of eight blocks one layer; the stem and the stages have one set of channels each,
  // the stem's that of the first stage.
  CHECK(count("resnet18") == std::pair(std::size_t{8 + 4}, std::int64_t{2 * 960 + 960}));
  // Two for each of 58 layers, the stem and three transitions.
  CHECK(count("densenet121") ==
        std::pair(std::size_t{2 * 58 + 4}, std::int64_t{58 * 160 + 64 + 128 + 256 + 512}));
}

// Weights of all layers that a mask could drop, and those that are kept.
struct Kept {
  double all = 0, kept = 0, all_macs = 0, kept_macs = 0;
  double weights() const { return kept / all; }
  double macs() const { return kept_macs / all_macs; }
};

Kept count_kept(const Model& model) {
  const std::vector<Shape> shapes = infer_shapes(model.graph, 1);
  Kept count;
  for (std::size_t i = 0; i < model.graph.nodes.size(); ++i) {
    const Node& node = model.graph.nodes[i];
    if (!has_prunable_weight(node)) continue;
    const auto all = static_cast<double>(model.tensors.at(weight_name(node)).count());
    const auto mask = model.tensors.find(weight_name(node) + ".mask");
    double kept = all;
    if (mask != model.tensors.end()) {
      const auto bits = mask->second.values<std::uint8_t>();
      kept = static_cast<double>(std::count(bits.begin(), bits.end(), 1));
    }
    const double macs = static_cast<double>(dense_macs(model.graph, shapes, i)) / all;
    count.all += all;
    count.kept += kept;
    count.all_macs += all * macs;
    count.kept_macs += kept * macs;
  }
  return count;
}

Bits random_channels(const ChannelUnits& units, double share, Random& random) {
  Bits kept;
  for (const PrunableLayer& layer : units.layers) {
    const auto first = static_cast<std::ptrdiff_t>(kept.size());
    for (std::int64_t k = 0; k < layer.blocks; ++k) kept.push_back(random.chance(share));
    kept[static_cast<std::size_t>(first)] = 1;
  }
  return kept;
}

TEST_CASE("the budget counts what masks drop, weight by weight") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Graph graph = seed % 4 == 0   ? residual()
                        : seed % 4 == 1 ? tangled()
                                        : build_architecture(seed % 4 == 2 ? "resnet18" : "lenet5",
                                                             {.input = {3, 32, 32}, .classes = 7});
    const ChannelUnits units = channel_units(graph);
    Model model = random_network(graph, seed);
    const Bits kept = random_channels(units, 0.6, random);
    set_channel_masks(units, kept, model);
    check_model(model, "model");
    std::vector<std::int64_t> filters;
    for (std::size_t u = 0; u < units.layers.size(); ++u) {
      const auto first = kept.begin() + units.first[u];
      filters.push_back(std::count(first, first + units.layers[u].blocks, 1) *
                        units.layers[u].weights_per_block);
    }
    EvolutionConfig config;
    const Kept counted = count_kept(model);
    CHECK(LayerBudget(config, units.layers).density(filters) == doctest::Approx(counted.weights()));
    config.budget = Budget::macs;
    CHECK(LayerBudget(config, units.layers).density(filters) == doctest::Approx(counted.macs()));
    CHECK(masked_channels(units, model) == kept);
    const auto layers = prunable_layers(model, kWholeChannels);
    for (std::size_t u = 0; u < layers.size(); ++u) {
      const double share = static_cast<double>(filters[u]) / static_cast<double>(layers[u].weights);
      CHECK(layers[u].initial_sparsity == doctest::Approx(1 - share));
    }
  }
}

TEST_CASE("channels of zeros are those that are 0 behind their norms too") {
  const Graph graph = residual();
  const ChannelUnits units = channel_units(graph);
  Model model = random_network(graph, 3);
  const auto clear = [&](const char* name, std::size_t first, std::size_t count) {
    std::fill_n(model.tensors.at(name).values<float>().begin() + static_cast<std::ptrdiff_t>(first),
                count, 0.0f);
  };
  clear("a.weight", 18, 18);
  clear("a.bias", 1, 1);
  clear("c.weight", 27, 27);
  clear("c.bias", 1, 1);
  CHECK(zero_channels(units, model) == Bits{1, 1, 1, 1, 1, 1, 1});
  clear("norm.weight", 1, 1);
  clear("norm.bias", 1, 1);
  CHECK(zero_channels(units, model) == Bits{1, 0, 1, 1, 1, 1, 1});
  clear("b.weight", 0, 3 * 36);
  clear("b.bias", 0, 3);
  CHECK(zero_channels(units, model) == Bits{1, 0, 1, 1, 1, 0, 0});  // one stays
}

TEST_CASE(
    "masks that are not of whole channels are refused, and networks without one that can go") {
  const Graph graph = residual();
  const ChannelUnits units = channel_units(graph);
  Model model = random_network(graph, 3);
  const auto message = [&] {
    CHECK(error_of([&] { masked_channels(units, model); }) == ErrorCode::usage);
    return message_of([&] { masked_channels(units, model); });
  };
  prune_node(model, "b", 1, 0.5, 4);
  CHECK(message() == "layer 'b': its mask drops other weights than whole channels take along");
  model = random_network(graph, 3);
  prune_node(model, "b", 8, 0.5, 4);
  CHECK(message() == "layer 'b': its mask is not one of whole channels");
  model = random_network(graph, 3);
  prune_node(model, "b", 1, 0.0, 4);
  CHECK(message() == "layer 'b': its mask drops all channels, expected at least one");
  model = random_network(graph, 3);
  prune_node(model, "fc", 1, 0.5, 4);
  CHECK(message() == "layer 'fc': its mask drops other weights than whole channels take along");

  const Graph single = graph_of({2, 6, 6}, {{"a", conv(2, 4, 3, 1), {}}});
  CHECK(error_of([&] { channel_units(single); }) == ErrorCode::usage);
  CHECK(message_of([&] { channel_units(single); }).rfind("granularity: net has no channel", 0) ==
        0);
}

}  // namespace
}  // namespace winnow
