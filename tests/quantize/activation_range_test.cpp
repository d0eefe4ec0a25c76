#include "quantize/activation_range.h"

#include <doctest/doctest.h>

#include "tests/model/graphs.h"
#include "tests/quantize/random_networks.h"
#include "tests/throws.h"

namespace winnow {
namespace {

std::map<std::string, Histogram> observed(const Graph& graph, double largest) {
  std::map<std::string, Histogram> histograms;
  for (const Node& node : graph.nodes) {
    histograms[node.name] = {largest, 4, std::vector<std::int64_t>(kHistogramBins, 1)};
  }
  return histograms;
}

TEST_CASE("values are rounded where they come into being and a layer reads them") {
  const Graph graph = graph_of({3, 8, 8}, {{"conv1", conv(3, 4, 3, 1), {}},
                                           {"relu1", Relu{}, {}},
                                           {"max", Pool{}, {}},
                                           {"conv2", conv(4, 4, 3, 1), {}},
                                           {"sum", Add{}, {"conv2", "max"}},
                                           {"average", Pool{PoolKind::average}, {}},
                                           {"flat", Flatten{}, {}},
                                           {"fc", Linear{16, 3, true}, {}},
                                           {"out", Softmax{}, {}}});
  Model model = random_network(graph, 1);
  set_activation_formats(model, 8, RangeRule::maximum, observed(graph, 3.5));
  CHECK(model.activation_bits == 8);
  const std::map<std::string, int> expected = {
      {"average", 5}, {"conv2", 5}, {"input", 5}, {"relu1", 5}, {"sum", 5}};
  CHECK(model.activation_frac == expected);
  check_model(model, "model");
}

TEST_CASE("tiny activations get formats that a file can hold") {
  const Graph graph = graph_of({3, 4, 4}, {{"conv", conv(3, 4, 3), {}}});
  Model model = random_network(graph, 2);
  set_activation_formats(model, 16, RangeRule::maximum, observed(graph, 1e-40));
  CHECK(model.activation_frac.at("input") == 126);
  check_model(model, "model");
}

TEST_CASE("a node that was not observed is named") {
  const Graph graph = graph_of({3, 4, 4}, {{"conv", conv(3, 4, 3), {}}, {"r", Relu{}, {}}});
  Model model = random_network(graph, 3);
  CHECK(message_of([&] {
          set_activation_formats(model, 8, RangeRule::maximum, {});
        }).find("'input'") != std::string::npos);
  CHECK(model.activation_bits == 0);
}

}  // namespace
}  // namespace winnow
