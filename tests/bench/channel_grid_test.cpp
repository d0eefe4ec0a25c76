#include "runtime/bench/channel_grid.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "runtime/base/random.h"
#include "runtime/model/architectures.h"

namespace winnow {
namespace {

const std::vector<double> kShares = {0.25, 0.5, 0.75};

Graph small_resnet() {
  ArchitectureOptions options;
  options.input = {3, 32, 32};
  options.classes = 10;
  return build_architecture("resnet18", options);
}

const Node& node_of(const Graph& graph, const std::string& name) {
  return graph.nodes[node_index(graph, name)];
}

}  // namespace

TEST_CASE("layers are measured with shares of the channels that can go, each number once") {
  const Op conv = Conv{.in_channels = 3, .out_channels = 64, .kernel = {3, 3}};
  CHECK(channel_grid(conv, {"a", true, false}, kShares) == ChannelGrid{{16, 32, 48, 64}, {3}});
  CHECK(channel_grid(conv, {"a", false, true}, kShares) == ChannelGrid{{64}, {1, 2, 3}});
  const Op linear = Linear{.in_features = 10, .out_features = 4};
  CHECK(channel_grid(linear, {"b", true, true}, kShares) ==
        ChannelGrid{{1, 2, 3, 4}, {3, 5, 8, 10}});
  CHECK(channel_grid(linear, {"b", true, true}, {}) == ChannelGrid{{4}, {10}});
  const Op depthwise = Conv{.in_channels = 8, .out_channels = 8, .groups = 8};
  CHECK(channel_grid(depthwise, {"c", true, true}, kShares) == ChannelGrid{{2, 4, 6, 8}, {1}});
  const Conv fewer = std::get<Conv>(narrowed(depthwise, 4, 1));
  CHECK((fewer.in_channels == 4 && fewer.out_channels == 4 && fewer.groups == 4));
  const Conv thin = std::get<Conv>(narrowed(conv, 16, 2));
  CHECK((thin.in_channels == 2 && thin.out_channels == 16 && thin.groups == 1));
}

TEST_CASE("a network's input and output stay whole") {
  const Graph graph = small_resnet();
  const std::vector<ChannelFreedom> all = channel_freedom(graph);
  CHECK((!all.front().inputs && all.front().outputs));
  CHECK((all.back().inputs && !all.back().outputs));
  for (std::size_t i = 1; i + 1 < all.size(); ++i) CHECK((all[i].inputs && all[i].outputs));
}

TEST_CASE("networks with a share of their channels are whole networks") {
  for (const char* name : {"resnet18", "resnet50", "densenet121", "vgg16"}) {
    CAPTURE(name);
    ArchitectureOptions options;
    options.input = {3, 32, 32};
    options.classes = 10;
    const Graph graph = build_architecture(name, options);
    for (const double share : {0.01, 0.3, 0.5, 1.0}) {
      const Graph fewer = narrowed(graph, share);
      CHECK(infer_shapes(fewer, 1).back() == Shape{1, 10});  // throws where sizes do not meet
      CHECK((fewer == graph) == (share == 1.0));
    }
  }
  const Graph half = narrowed(small_resnet(), 0.5);
  for (const Node& node : half.nodes) {
    const auto* conv = std::get_if<Conv>(&node.op);
    if (!conv) continue;
    CHECK(2 * conv->out_channels ==
          std::get<Conv>(node_of(small_resnet(), node.name).op).out_channels);
  }
}

TEST_CASE("times never fall, and lie as near to what was measured as such times can") {
  CHECK(never_falling(std::vector<double>{1, 3, 2, 4}, 4) == std::vector<double>{1, 2.5, 2.5, 4});
  CHECK(never_falling(std::vector<double>{1, 3, 2, 4}, 2) == std::vector<double>{1, 3, 2, 4});
  CHECK(never_falling(std::vector<double>{5, 1, 1, 3}, 2) == std::vector<double>{3, 3, 3, 4});
  Random random(3);
  for (int round = 0; round < 100; ++round) {
    const auto rows = static_cast<std::size_t>(random.between(1, 6));
    const auto columns = static_cast<std::size_t>(random.between(1, 6));
    std::vector<double> ms(rows * columns);
    for (double& one : ms) one = random.uniform(0.1, 1.0);
    const std::vector<double> even = never_falling(ms, columns);
    double farthest = 0, worst_pair = 0;
    for (std::size_t i = 0; i < ms.size(); ++i) {
      if (i % columns > 0) CHECK(even[i] >= even[i - 1]);
      if (i >= columns) CHECK(even[i] >= even[i - columns]);
      farthest = std::max(farthest, std::abs(even[i] - ms[i]));
      for (std::size_t j = 0; j < ms.size(); ++j) {
        const bool is_smaller = j / columns <= i / columns && j % columns <= i % columns;
        if (is_smaller) worst_pair = std::max(worst_pair, ms[j] - ms[i]);
      }
    }
    CHECK(farthest <= worst_pair / 2 + 1e-12);  // no table that never falls is nearer
  }
}

}  // namespace winnow
