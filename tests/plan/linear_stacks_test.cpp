#include "runtime/plan/linear_stacks.h"

#include <doctest/doctest.h>

#include "tests/model/graphs.h"

namespace winnow {
namespace {

using Stacks = std::vector<std::vector<std::string>>;

Node linear(const std::string& name, std::int64_t in, std::int64_t out, std::string from = "") {
  Node node{name, Linear{in, out, true}, {}};
  if (!from.empty()) node.inputs = {std::move(from)};
  return node;
}

// Every weight sparse but those of the nodes named `dense`.
DeployedModel model_of(Graph graph, const std::vector<std::string>& dense = {}) {
  DeployedModel model;
  for (const Node& node : graph.nodes) {
    const bool is_dense = std::ranges::find(dense, node.name) != dense.end();
    for (const Parameter& parameter : parameters_of(node)) {
      const std::vector<float> zeros(static_cast<std::size_t>(element_count(parameter.shape)));
      if (is_dense || !parameter.name.ends_with(".weight")) {
        model.weights[parameter.name] = DenseWeight{parameter.shape, encode_f32(zeros)};
      } else {
        model.weights[parameter.name] = CsrWeight{};
      }
    }
  }
  model.graph = std::move(graph);
  return model;
}

Stacks stacks_of(const DeployedModel& model, std::int64_t most_features = 1 << 20) {
  const Program program = build_program(model.graph, 4);
  Stacks stacks;
  for (const LinearStack& stack : linear_stacks(program, model, most_features)) {
    stacks.emplace_back();
    for (const std::size_t step : stack.steps) stacks.back().push_back(program.steps[step].name);
  }
  return stacks;
}

}  // namespace

TEST_CASE("sparse linear layers that follow each other are one stack") {
  const Graph graph = graph_of({6}, {linear("a", 6, 5),
                                     {"relu", Relu{}, {}},
                                     linear("b", 5, 9),
                                     {"dropout", Dropout{}, {}},
                                     linear("c", 9, 3),
                                     {"out", Softmax{}, {}}});
  CHECK(stacks_of(model_of(graph)) == Stacks{{"a", "b", "c"}});
}

TEST_CASE("a stack ends where the weight is dense, the value is read twice or too wide") {
  const Graph graph = graph_of({6}, {linear("a", 6, 5), linear("b", 5, 9), linear("c", 9, 3)});
  CHECK(stacks_of(model_of(graph, {"b"})) == Stacks{{"a"}, {"c"}});
  CHECK(stacks_of(model_of(graph), 8) == Stacks{{"a"}});
  CHECK(stacks_of(model_of(graph), 5).empty());

  const Graph forked = graph_of({6}, {linear("a", 6, 5),
                                      linear("b", 5, 5, "a"),
                                      linear("c", 5, 5, "a"),
                                      {"sum", Add{}, {"b", "c"}}});
  CHECK(stacks_of(model_of(forked)) == Stacks{{"a"}, {"b"}, {"c"}});
}

TEST_CASE("a stack knows which part of its weights is left") {
  DeployedModel model = model_of(graph_of({4}, {linear("a", 4, 2), linear("b", 2, 3)}));
  const auto weight = [](const std::vector<std::uint8_t>& mask, std::int64_t out, std::int64_t in,
                         const std::vector<float>& values) {
    return csr_weight(build_csr_pattern(mask, out, in, 1), encode_f32(values));
  };
  // Rows are filled up to the longest; pads do not count.
  model.weights["a.weight"] = weight({1, 1, 0, 1, 0, 1, 0, 0}, 2, 4, {1, 2, 3, 0, 4, 0});
  model.weights["b.weight"] = weight({0, 1, 0, 0, 1, 0}, 3, 2, {5, 0, 6});
  const std::vector<LinearStack> stacks =
      linear_stacks(build_program(model.graph, 1), model, 1 << 20);
  REQUIRE(stacks.size() == 1);
  CHECK(stacks[0].density == doctest::Approx(6.0 / 14));
}

TEST_CASE("other layers are in no stack") {
  const Graph graph = graph_of(
      {2, 4, 4}, {{"conv", conv(2, 2, 3, 1), {}}, {"flatten", Flatten{}, {}}, linear("fc", 32, 3)});
  CHECK(stacks_of(model_of(graph)) == Stacks{{"fc"}});
}

}  // namespace winnow
