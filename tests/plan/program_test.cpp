#include "runtime/plan/program.h"

#include <doctest/doctest.h>

#include "runtime/model/architectures.h"
#include "tests/model/graphs.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using Lines = std::vector<std::string>;

// "conv1+relu: input -> relu1": name, fusion, values read and written.
Lines described(const Program& program) {
  Lines lines;
  for (const Step& step : program.steps) {
    std::string line = step.name + (step.has_relu ? "+relu:" : ":");
    for (const std::size_t input : step.inputs) line += " " + program.values[input].name;
    lines.push_back(line + " -> " + program.values[step.output].name);
  }
  return lines;
}

Lines steps_of(Shape input, std::vector<Node> nodes) {
  return described(build_program(graph_of(std::move(input), std::move(nodes)), 2));
}

}  // namespace

TEST_CASE("a relu is fused into the convolution, linear layer or sum before it") {
  CHECK(steps_of({2, 4, 4}, {{"conv", conv(2, 2, 3, 1), {}},
                             {"relu1", Relu{}, {}},
                             {"sum", Add{}, {"relu1", "input"}},
                             {"relu2", Relu{}, {}},
                             {"flatten", Flatten{}, {}},
                             {"fc", Linear{32, 3, true}, {}},
                             {"relu3", Relu{}, {}}}) ==
        Lines{"conv+relu: input -> relu1", "sum+relu: relu1 input -> relu2",
              "flatten: relu2 -> flatten", "fc+relu: flatten -> relu3"});
}

TEST_CASE("a relu stays a step behind other ops") {
  CHECK(steps_of({2, 4, 4}, {{"relu0", Relu{}, {}},
                             {"pool", Pool{}, {}},
                             {"relu1", Relu{}, {}},
                             {"both", Concat{}, {"relu1", "pool"}},
                             {"relu2", Relu{}, {}}}) ==
        Lines{"relu0: input -> relu0", "pool: relu0 -> pool", "relu1: pool -> relu1",
              "both: relu1 pool -> both", "relu2: both -> relu2"});
}

TEST_CASE("a relu with an upper bound stays a step, so that no kernel drops the bound") {
  CHECK(steps_of({2, 4, 4}, {{"conv", conv(2, 2, 3, 1), {}},
                             {"relu1", Relu{6.0}, {}},
                             {"sum", Add{}, {"relu1", "input"}},
                             {"relu2", Relu{}, {}},
                             {"relu3", Relu{6.0}, {}},
                             {"flatten", Flatten{}, {}},
                             {"fc", Linear{32, 3, true}, {}},
                             {"relu4", Relu{1.0}, {}}}) ==
        Lines{"conv: input -> conv", "relu1: conv -> relu1", "sum+relu: relu1 input -> relu2",
              "relu3: relu2 -> relu3", "flatten: relu3 -> flatten", "fc: flatten -> fc",
              "relu4: fc -> relu4"});
}

TEST_CASE("a relu is not fused into a value that something else reads") {
  CHECK(steps_of({2, 4, 4}, {{"conv", conv(2, 2, 1), {}},
                             {"relu", Relu{}, {}},
                             {"sum", Add{}, {"relu", "conv"}}}) ==
        Lines{"conv: input -> conv", "relu: conv -> relu", "sum: relu conv -> sum"});
}

TEST_CASE("a relu behind a relu is fused only if nothing else reads the first") {
  CHECK(steps_of({2, 4, 4},
                 {{"conv", conv(2, 2, 1), {}}, {"relu1", Relu{}, {}}, {"relu2", Relu{}, {}}}) ==
        Lines{"conv+relu: input -> relu2"});
  CHECK(steps_of({2, 4, 4}, {{"conv", conv(2, 2, 1), {}},
                             {"relu1", Relu{}, {}},
                             {"relu2", Relu{}, {}},
                             {"sum", Add{}, {"relu1", "relu2"}}}) ==
        Lines{"conv+relu: input -> relu1", "relu2: relu1 -> relu2", "sum: relu1 relu2 -> sum"});
}

TEST_CASE("dropouts are no steps and hide no reader") {
  CHECK(steps_of({2, 4, 4}, {{"drop0", Dropout{}, {}},
                             {"conv", conv(2, 2, 1), {}},
                             {"drop1", Dropout{}, {}},
                             {"relu", Relu{}, {}}}) == Lines{"conv+relu: input -> relu"});
  // Through the dropout the sum reads the convolution's own value.
  CHECK(steps_of({2, 4, 4}, {{"conv", conv(2, 2, 1), {}},
                             {"drop", Dropout{}, {}},
                             {"relu", Relu{}, {"conv"}},
                             {"sum", Add{}, {"drop", "relu"}}}) ==
        Lines{"conv: input -> conv", "relu: conv -> relu", "sum: conv relu -> sum"});
}

TEST_CASE("the output is the last node's value, dropouts aside") {
  const Program program =
      build_program(graph_of({2, 4, 4}, {{"conv", conv(2, 2, 1), {}}, {"drop", Dropout{}, {}}}), 1);
  CHECK(program.values[program.output].name == "conv");
  CHECK(program.values[program.input].name == "input");
  CHECK(program.values.size() == 2);
}

TEST_CASE("a step names its weight and its bias, if it has them") {
  const Program program = build_program(graph_of({6}, {{"fc1", Linear{6, 4, true}, {}},
                                                       {"fc2", Linear{4, 3, false}, {}},
                                                       {"out", Softmax{}, {}}}),
                                        1);
  REQUIRE(program.steps.size() == 3);
  CHECK(program.steps[0].weight == "fc1.weight");
  CHECK(program.steps[0].bias == "fc1.bias");
  CHECK(program.steps[1].weight == "fc2.weight");
  CHECK(program.steps[1].bias == "");
  CHECK(program.steps[2].weight == "");
}

TEST_CASE("values have the shapes of the batch") {
  const Program program = build_program(lenet5({{1, 28, 28}, 10}), 7);
  CHECK(program.batch == 7);
  CHECK(program.values[program.input].shape == Shape{7, 1, 28, 28});
  CHECK(program.values[program.output].shape == Shape{7, 10});
  CHECK(program.values[program.steps[0].output].shape == Shape{7, 6, 28, 28});
}

TEST_CASE("every step reads values that are written before it") {
  for (const Graph& graph : {joined_graph(), vgg16({{3, 32, 32}, 10, 0.5})}) {
    const Program program = build_program(graph, 2);
    std::vector<bool> is_written(program.values.size());
    is_written[program.input] = true;
    for (const Step& step : program.steps) {
      for (const std::size_t input : step.inputs) CHECK(is_written[input]);
      CHECK_FALSE(is_written[step.output]);
      is_written[step.output] = true;
    }
    CHECK(is_written[program.output]);
  }
}

TEST_CASE("a model is checked before it becomes a program") {
  DeployedModel model;
  model.graph = graph_of({2, 4, 4}, {{"conv", conv(2, 2, 1), {}}, {"relu", Relu{}, {}}});
  CHECK(error_of([&] { build_program(model, 1); }) == ErrorCode::bad_file);  // no weights
  model.weights["conv.weight"] = DenseWeight{{2, 2, 1, 1}, encode_f32(std::vector<float>(4))};
  model.weights["conv.bias"] = DenseWeight{{2}, encode_f32(std::vector<float>(2))};
  CHECK(described(build_program(model, 1)) == Lines{"conv+relu: input -> relu"});
  CHECK(error_of([&] { build_program(model, 0); }) == ErrorCode::usage);
  CHECK(error_of([&] { build_program(model, std::int64_t{1} << 50); }) == ErrorCode::usage);
}

}  // namespace winnow
