#include "runtime/plan/fusions.h"

#include <doctest/doctest.h>

#include "tests/model/graphs.h"

namespace winnow {
namespace {

// "conv1 in pool1", in order of the convolutions.
std::vector<std::string> fusions_of(const Graph& graph) {
  const Program program = build_program(graph, 2);
  const std::vector<StepFusions> fusions = step_fusions(program);
  REQUIRE(fusions.size() == program.steps.size());
  std::vector<std::string> found;
  for (std::size_t i = 0; i < fusions.size(); ++i) {
    REQUIRE(fusions[i].computed.size() == program.steps[i].inputs.size());
    if (fusions[i].into == kNoStep) continue;
    const StepFusions& reader = fusions[fusions[i].into];
    CHECK(std::ranges::count(reader.computed, i) == 1);
    found.push_back(program.steps[i].name + " in " + program.steps[fusions[i].into].name);
  }
  return found;
}

}  // namespace

TEST_CASE("a convolution may be computed by the pooling that alone reads it") {
  const Graph graph = graph_of({3, 8, 8}, {{"conv1", conv(3, 4, 3, 1), {}},
                                           {"relu1", Relu{}, {}},
                                           {"pool1", Pool{}, {}},
                                           {"conv2", conv(4, 4, 3, 1), {}},
                                           {"pool2", GlobalPool{}, {}},
                                           {"fc", Linear{4, 2, true}, {}}});
  CHECK(fusions_of(graph) == std::vector<std::string>{"conv1 in pool1"});
}

TEST_CASE("a convolution may be computed by the sum of two values, but not with a relu between") {
  CHECK(fusions_of(joined_graph()) == std::vector<std::string>{"conv2 in sum"});
  const auto block = [](std::vector<Node> middle) {
    std::vector<Node> nodes = {{"a", conv(4, 4, 1), {}}, {"b", conv(4, 4, 1), {"input"}}};
    nodes.insert(nodes.end(), middle.begin(), middle.end());
    return graph_of({4, 6, 6}, nodes);
  };
  CHECK(fusions_of(block({{"sum", Add{}, {"a", "b"}}})) ==
        std::vector<std::string>{"a in sum", "b in sum"});
  CHECK(fusions_of(block({{"relu", Relu{}, {"a"}}, {"sum", Add{}, {"relu", "b"}}})) ==
        std::vector<std::string>{"b in sum"});
  CHECK(fusions_of(block({{"sum", Add{}, {"a", "b", "input"}}})).empty());
}

TEST_CASE("a flattening may be computed by the linear layer that alone reads it") {
  const auto flattened = [](std::vector<Node> readers) {
    std::vector<Node> nodes = {{"conv", conv(3, 4, 3, 1), {}}, {"flat", Flatten{}, {}}};
    nodes.insert(nodes.end(), readers.begin(), readers.end());
    return graph_of({3, 2, 2}, nodes);
  };
  const Linear ten{16, 10, true};
  CHECK(fusions_of(flattened({{"fc", ten, {}}})) == std::vector<std::string>{"flat in fc"});
  CHECK(fusions_of(flattened({{"relu", Relu{}, {}}, {"fc", ten, {}}})).empty());
  CHECK(fusions_of(
            flattened({{"a", ten, {"flat"}}, {"b", ten, {"flat"}}, {"sum", Add{}, {"a", "b"}}}))
            .empty());
  CHECK(fusions_of(flattened({})).empty());
}

TEST_CASE("what is read twice, or is the output, is computed by itself") {
  CHECK(fusions_of(graph_of({4, 6, 6}, {{"a", conv(4, 4, 1), {}},
                                        {"pool", Pool{}, {"a"}},
                                        {"other", Pool{}, {"a"}},
                                        {"sum", Add{}, {"pool", "other"}}}))
            .empty());
  CHECK(fusions_of(graph_of({4, 6, 6}, {{"a", conv(4, 4, 1), {}}, {"sum", Add{}, {"a", "a"}}}))
            .empty());
  CHECK(fusions_of(graph_of({4, 6, 6}, {{"a", conv(4, 4, 1), {}}})).empty());
}

}  // namespace winnow
