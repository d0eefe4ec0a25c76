#include "runtime/bench/rivals/rival.h"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/bench/conv_cases.h"
#include "tests/throws.h"

namespace winnow {
namespace {

ColumnShape shape_of(std::int64_t channels, std::int64_t outs, std::int64_t width) {
  ColumnShape shape;
  shape.conv.in_channels = channels;
  shape.conv.out_channels = outs;
  shape.conv.kernel = {1, width};
  shape.in = {1, channels, 1, 5};
  shape.out = {1, outs, 1, 5 - width + 1};
  return shape;
}

ConvLayer plain_layer() {
  ConvLayer layer{"plain", 5, 5, {}, false, false};
  layer.conv.in_channels = 8;
  layer.conv.out_channels = 16;
  return layer;
}

}  // namespace

TEST_CASE("a shape counts the pixels and columns of its matrix") {
  ColumnShape shape = shape_of(4, 2, 2);
  CHECK(shape.pixels() == 4);
  CHECK(shape.columns() == 8);
  CHECK(!is_input(shape));
  CHECK(is_input(shape_of(4, 2, 1)));
  shape = shape_of(4, 2, 1);
  shape.conv.stride = {1, 2};
  CHECK(!is_input(shape));
}

TEST_CASE("two of every four weights stay, the largest") {
  CHECK(two_of_four(shape_of(4, 1, 1), {1, -3, 2, 0.5f}) == std::vector<float>{0, -3, 2, 0});
  CHECK(two_of_four(shape_of(4, 1, 1), {1, 1, 1, 1}) == std::vector<float>{1, 1, 0, 0});
  // Four that follow each other are channels of one position: here columns 0, 2, 4, 6 of the row.
  CHECK(two_of_four(shape_of(4, 1, 2), {1, 10, 2, 20, 3, 30, 4, 40}) ==
        std::vector<float>{0, 0, 0, 0, 3, 30, 4, 40});
  CHECK(two_of_four(shape_of(8, 1, 1), {1, 2, 3, 4, 8, 7, 6, 5}) ==
        std::vector<float>{0, 0, 3, 4, 8, 7, 0, 0});
}

TEST_CASE("an int8 unit is such that four deviations of an output are 127") {
  // Twelve weights of 1 for one output: variance 12 / 3.
  const RivalProblem problem{shape_of(12, 1, 1), std::vector<float>(12, 1.0f)};
  CHECK(int8_scale(problem) == doctest::Approx(4 * 2.0 / 127));
}

TEST_CASE("a rival's problem is the product alone") {
  const DeployedModel model = conv_model(plain_layer(), {RandomMask::independent, 1, 50});
  const LayerSetup setup(model, {.batch = 2, .precision = Precision::f16});
  CHECK(!setup.program().steps[0].has_relu);
  const RivalProblem problem = rival_problem(setup);
  CHECK(problem.weight.size() == 128);
  CHECK(problem.shape.pixels() == 50);
  ConvLayer grouped = plain_layer();
  grouped.conv.groups = 2;
  const DeployedModel other = conv_model(grouped, {RandomMask::independent, 1, 50});
  const LayerSetup other_setup(other, {.batch = 2, .precision = Precision::f16});
  CHECK(message_of([&] { rival_problem(other_setup); }) ==
        "a rival: expected a convolution of 1 group");
}

}  // namespace winnow
