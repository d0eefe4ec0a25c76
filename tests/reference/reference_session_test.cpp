#include "runtime/reference/reference_session.h"

#include <doctest/doctest.h>

#include "tests/throws.h"

namespace winnow {
namespace {

using Floats = std::vector<float>;

// input [2] -> linear to [2], relu -> linear to [1]
DeployedModel two_layers() {
  DeployedModel model;
  model.graph.name = "two";
  model.graph.nodes = {{"input", Input{{2}, false}, {}},
                       {"first", Linear{2, 2, true}, {"input"}},
                       {"relu", Relu{}, {"first"}},
                       {"last", Linear{2, 1, true}, {"relu"}}};
  const auto dense = [](Shape shape, Floats values) {
    return DenseWeight{std::move(shape), encode_f32(values)};
  };
  CsrWeight first;  // [1 0; 0 -1] with a pad beside the -1
  first.channels = 2;
  first.cols = 2;
  first.rows = 2;
  first.row_length = 1;
  first.column = {0, 1};
  first.kept = {1, 1};
  first.values = encode_f32(Floats{1, -1});
  model.weights = {{"first.weight", first},
                   {"first.bias", dense({2}, {0.5f, 0})},
                   {"last.weight", dense({1, 2}, {2, 3})},
                   {"last.bias", dense({1}, {10})}};
  return model;
}

TEST_CASE("the reference session runs a network that can be checked by hand") {
  SessionOptions options;
  options.batch = 2;
  const auto session = make_reference_session(two_layers(), options);
  Floats output(2);
  session->run(Floats{1, -2, -1, 4}, output);
  // relu(1 + 0.5, 2) = (1.5, 2); relu(-0.5, -4) = 0
  CHECK(output == Floats{19, 10});
  CHECK(session->step_outputs() == std::vector<Floats>{{1.5f, 2, 0, 0}, {19, 10}});
}

TEST_CASE("the reference session describes its layers and times them") {
  const auto session = make_reference_session(two_layers(), {});
  const std::vector<LayerPlan> layers = session->layers();
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].name == "first");
  CHECK(layers[0].op == "linear");
  CHECK(layers[0].family == "reference");
  CHECK(layers[0].macs == 4);
  CHECK(layers[0].weight_sparsity == 0.5);
  CHECK(layers[1].output_shape == Shape{1, 1});
  session->set_input(Floats{1, 2});
  CHECK(session->time_network(1, 3).size() == 3);
  CHECK(session->time_layers(0, 2).size() == 2);
  CHECK(session->time_layers(0, 2)[1].size() == 2);
}

TEST_CASE("the reference session refuses inputs and outputs of another size") {
  const auto session = make_reference_session(two_layers(), {});
  Floats output(1), two(2);
  CHECK(error_of([&] { session->run(Floats{1}, output); }) == ErrorCode::usage);
  CHECK(error_of([&] { session->run(Floats{1, 2}, two); }) == ErrorCode::usage);
}

}  // namespace
}  // namespace winnow
