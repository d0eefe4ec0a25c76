#include "prune/training/network/initialization.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/training/graphs.h"

namespace winnow {
namespace {

double deviation(std::span<const float> values) {
  double squares = 0;
  for (const float value : values) squares += double{value} * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

TEST_CASE("initial weights have the deviations of their kinds") {
  const Model model = initial_model(
      chain({32, 8, 8}, {{"conv", Conv{.in_channels = 32, .out_channels = 64, .kernel = {3, 3}}},
                         {"norm", BatchNorm{.channels = 64}},
                         {"flatten", Flatten{}},
                         {"linear", Linear{.in_features = 2304, .out_features = 20}}}),
      3);

  const auto conv = model.tensors.at("conv.weight").values<float>();
  CHECK(deviation(conv) == doctest::Approx(std::sqrt(2.0 / (64 * 9))).epsilon(0.03));
  for (const float bias : model.tensors.at("conv.bias").values<float>()) CHECK(bias == 0.0f);

  const auto linear = model.tensors.at("linear.weight").values<float>();
  const auto [low, high] = std::minmax_element(linear.begin(), linear.end());
  CHECK(*low >= -1.0f / 48);
  CHECK(*high <= 1.0f / 48);
  CHECK(deviation(linear) == doctest::Approx(1.0 / 48 / std::sqrt(3.0)).epsilon(0.03));

  CHECK(model.tensors.at("norm.weight").values<float>()[63] == 1.0f);
  CHECK(model.tensors.at("norm.running_var").values<float>()[0] == 1.0f);
  CHECK(model.tensors.at("norm.running_mean").values<float>()[0] == 0.0f);
}

TEST_CASE("initial weights follow the seed and nothing else") {
  const Graph graph = small_network(3, 10);
  CHECK((initial_model(graph, 4) == initial_model(graph, 4)));
  CHECK_FALSE((initial_model(graph, 4).tensors.at("conv1.weight") ==
               initial_model(graph, 5).tensors.at("conv1.weight")));
  Graph longer = graph;
  longer.nodes.push_back({"softmax", Softmax{}, {"linear"}});
  CHECK((initial_model(longer, 4).tensors == initial_model(graph, 4).tensors));
}

}  // namespace
}  // namespace winnow
