#include <doctest/doctest.h>

#include <random>

#include "runtime/model/graph.h"
#include "tests/model/graphs.h"
#include "tests/throws.h"

namespace winnow {
namespace {

// The shape of the last node's value for two samples.
Shape output_of(const Graph& graph) {
  return infer_shapes(graph, 2).back();
}

Shape output_of(Shape input, Op op) {
  return output_of(graph_of(std::move(input), {{"op", std::move(op), {}}}));
}

std::string refusal(const Graph& graph) {
  CHECK(error_of([&] { infer_shapes(graph, 2); }) == ErrorCode::usage);
  return message_of([&] { infer_shapes(graph, 2); });
}

// Why one op cannot read [2, input...].
std::string refusal(Shape input, Op op) {
  return refusal(graph_of(std::move(input), {{"op", std::move(op), {}}}));
}

}  // namespace

TEST_CASE("every op gives the shape of its definition") {
  Conv strided = conv(3, 8, 3, 1);
  strided.stride = {2, 3};
  strided.dilation = {2, 1};
  CHECK(output_of({3, 9, 11}, strided) == Shape{2, 8, 4, 4});
  CHECK(output_of({3, 10}, conv1d(3, 5, 4)) == Shape{2, 5, 7});
  CHECK(output_of({6}, Linear{6, 4, true}) == Shape{2, 4});
  CHECK(output_of({3, 4, 5}, BatchNorm{3}) == Shape{2, 3, 4, 5});
  CHECK(output_of({3, 4, 5}, Relu{}) == Shape{2, 3, 4, 5});
  CHECK(output_of({3, 5, 7}, Pool{}) == Shape{2, 3, 2, 3});
  CHECK(output_of({3, 7}, Pool{PoolKind::max, 1, {1, 3}, {1, 2}, {0, 1}}) == Shape{2, 3, 4});
  CHECK(output_of({3, 5, 7}, GlobalPool{}) == Shape{2, 3});
  CHECK(output_of({3, 7}, GlobalPool{}) == Shape{2, 3});
  CHECK(output_of({3, 5, 7}, Flatten{}) == Shape{2, 105});
  CHECK(output_of({3, 5}, Dropout{}) == Shape{2, 3, 5});
  CHECK(output_of({3}, Softmax{}) == Shape{2, 3});
  CHECK(output_of(graph_of({9}, {{"op", Embedding{50, 6}, {}}}, true)) == Shape{2, 6, 9});
}

TEST_CASE("shapes of a graph with joins follow its nodes") {
  const std::vector<Shape> shapes = infer_shapes(joined_graph(), 3);
  REQUIRE(shapes.size() == 9);
  CHECK(shapes[0] == Shape{3, 4, 6, 6});
  CHECK(shapes[4] == Shape{3, 4, 6, 6});
  CHECK(shapes[5] == Shape{3, 8, 6, 6});
  CHECK(shapes[6] == Shape{3, 8});
  CHECK(shapes[8] == Shape{3, 3});
}

TEST_CASE("a convolution has as many positions as a loop over its window finds") {
  std::mt19937 random(11);
  const auto up_to = [&random](std::uint32_t n) { return std::int64_t{1} + random() % n; };
  for (int i = 0; i < 500; ++i) {
    Conv op = conv1d(1, 1, up_to(5));
    op.stride[1] = up_to(4);
    op.dilation[1] = up_to(3);
    op.padding[1] = up_to(4) - 1;
    const std::int64_t size = up_to(20);
    std::int64_t positions = 0;
    const std::int64_t last = (op.kernel[1] - 1) * op.dilation[1];
    for (std::int64_t x = -op.padding[1]; x + last < size + op.padding[1]; x += op.stride[1]) {
      ++positions;
    }
    const Graph graph = graph_of({1, size}, {{"conv", op, {}}});
    if (positions == 0) {
      REQUIRE(error_of([&] { infer_shapes(graph, 1); }) == ErrorCode::usage);
    } else {
      REQUIRE(infer_shapes(graph, 1).back() == Shape{1, 1, positions});
    }
  }
}

TEST_CASE("a pool has the windows that a loop over their beginnings finds") {
  std::mt19937 random(12);
  const auto below = [&random](std::int64_t n) { return static_cast<std::int64_t>(random()) % n; };
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t size = 1 + below(20), kernel = 1 + below(5), stride = 1 + below(6);
    const std::int64_t begin = below(kernel), end = below(kernel);
    const bool rounds_up = below(2) == 1;
    std::int64_t positions = 0;
    for (std::int64_t x = -begin;; x += stride) {
      // Rounding up adds the window of which one a stride before would fit with room behind it.
      const bool fits = x + kernel <= size + end;
      const bool is_added = rounds_up && x - stride + kernel < size + end && x < size;
      if (!fits && !is_added) break;
      ++positions;
    }
    const Pool op{PoolKind::max, 1, {1, kernel}, {1, stride}, {0, begin}, Pair{0, end}, rounds_up};
    const Graph graph = graph_of({1, size}, {{"pool", op, {}}});
    CAPTURE(size);
    CAPTURE(kernel);
    CAPTURE(stride);
    if (positions == 0) {
      REQUIRE(error_of([&] { infer_shapes(graph, 1); }) == ErrorCode::usage);
    } else {
      REQUIRE(infer_shapes(graph, 1).back() == Shape{1, 1, positions});
    }
  }
}

TEST_CASE("shapes that do not meet are refused with node, finding and expectation") {
  CHECK(refusal(graph_of({3, 8, 8}, {{"relu1", Relu{}, {}}, {"conv2", conv(64, 8, 3), {}}})) ==
        "net: node 'conv2': expects 64 input channels, 'relu1' gives 3");
  CHECK(refusal({3, 8, 8}, Linear{192, 10, true}) ==
        "net: node 'op': expects [N, F]; put a flatten before it; 'input' gives [2, 3, 8, 8]");
  CHECK(refusal({9}, Linear{10, 4, true}) ==
        "net: node 'op': expects 10 input features, 'input' gives 9");
  CHECK(refusal({4, 8}, conv(4, 4, 3)) ==
        "net: node 'op': expects [N, C, H, W]; 'input' gives [2, 4, 8]");
  CHECK(refusal({4, 8, 8}, BatchNorm{5}) == "net: node 'op': expects 5 channels, 'input' gives 4");
  CHECK(refusal({4}, GlobalPool{}) ==
        "net: node 'op': expects positions to pool over, 'input' gives [2, 4]");
  CHECK(refusal({4, 2, 9}, conv(4, 4, 3)) ==
        "net: node 'op': its window of 3 does not fit into 2 positions, padding included; 'input' "
        "gives [2, 4, 2, 9]");
  CHECK(refusal({4, 1, 9}, Pool{}) ==
        "net: node 'op': its window of 2 does not fit into 1 positions, padding included; 'input' "
        "gives [2, 4, 1, 9]");
}

TEST_CASE("groups must divide both channel counts, padding of a pool is less than its kernel") {
  Conv op = conv(6, 9, 3);
  op.groups = 3;
  CHECK(output_of({6, 5, 5}, op) == Shape{2, 9, 3, 3});
  op.groups = 2;
  CHECK(refusal({6, 5, 5}, op) ==
        "net: node 'op': 2 groups do not divide 6 input and 9 output channels");
  CHECK(refusal({6, 5, 5}, Pool{PoolKind::max, 2, {3, 3}, {1, 1}, {1, 3}}) ==
        "net: node 'op': padding 3 is not less than the kernel's 3");
  CHECK(refusal({6, 5, 5}, Pool{PoolKind::max, 2, {3, 3}, {1, 1}, {1, 2}, Pair{4, 0}}) ==
        "net: node 'op': padding 4 is not less than the kernel's 3");
}

TEST_CASE("joins refuse shapes that differ") {
  const auto joined = [](Op op, std::int64_t channels, std::int64_t padding) {
    return graph_of({4, 6, 6}, {{"a", conv(4, channels, 3, padding), {}},
                                {"b", std::move(op), {"input", "a"}}});
  };
  CHECK(output_of(joined(Concat{}, 5, 1)) == Shape{2, 9, 6, 6});
  CHECK(refusal(joined(Add{}, 5, 1)) ==
        "net: node 'b': expects equal shapes, 'input' gives [2, 4, 6, 6], 'a' gives [2, 5, 6, 6]");
  CHECK(refusal(joined(Concat{}, 5, 0)) ==
        "net: node 'b': expects shapes that differ in channels only, 'input' gives [2, 4, 6, 6], "
        "'a' gives [2, 5, 4, 4]");
}

TEST_CASE("wrong numbers of inputs are refused") {
  CHECK(refusal(graph_of({4}, {{"r", Relu{}, {"input", "input"}}})) ==
        "net: node 'r': relu has 2 inputs, expected 1");
  CHECK(refusal(graph_of({4}, {{"sum", Add{}, {"input"}}})) ==
        "net: node 'sum': add has 1 inputs, expected at least 2");
  Graph without = graph_of({4}, {{"r", Relu{}, {}}});
  without.nodes[1].inputs.clear();
  CHECK(refusal(without) == "net: node 'r': relu has 0 inputs, expected 1");
}

TEST_CASE("names must exist before they are read, be unique and be read by someone") {
  CHECK(refusal(graph_of({4}, {{"relu1", Relu{}, {}}, {"relu2", Relu{}, {"relu"}}})) ==
        "net: node 'relu2': its input 'relu' does not exist; did you mean 'relu1'?");
  CHECK(refusal(graph_of({4}, {{"a", Relu{}, {"b"}}, {"b", Relu{}, {"input"}}})) ==
        "net: node 'a': reads 'b', which does not come before it");
  CHECK(refusal(graph_of({4}, {{"a", Relu{}, {"a"}}})) ==
        "net: node 'a': reads 'a', which does not come before it");
  CHECK(refusal(graph_of({4}, {{"a", Relu{}, {}}, {"a", Relu{}, {}}})) ==
        "net: node 'a': another node has the same name");
  CHECK(refusal(graph_of({4}, {{"a", Relu{}, {}}, {"b", Relu{}, {"input"}}})) ==
        "net: node 'a': no other node reads its value");
  CHECK(refusal(graph_of({4}, {{"a b", Relu{}, {}}})) ==
        "net: node 'a b': a name has 1 to 128 of A-Z a-z 0-9 _ - . /");
}

TEST_CASE("the input comes first, once, and does not stand alone") {
  CHECK(refusal(Graph{"net", {}}) == "net: has no layers");
  CHECK(refusal(Graph{"", {{"input", Input{{4}}, {}}}}) == "graph: has no layers");
  CHECK(refusal(Graph{"net", {{"a", Input{{4}}, {}}, {"b", Input{{4}}, {}}}}) ==
        "net: node 'b': an input must be the first node");
  Graph headless = graph_of({4}, {{"a", Relu{}, {}}, {"b", Relu{}, {}}});
  headless.nodes.erase(headless.nodes.begin());
  headless.nodes[0].inputs.clear();
  CHECK(error_of([&] { infer_shapes(headless, 1); }) == ErrorCode::usage);
  CHECK(message_of([] { infer_shapes(joined_graph(), 0); }) ==
        "net: batch size is 0, expected at least 1");
}

TEST_CASE("token numbers and real numbers do not mix") {
  CHECK(refusal({9}, Embedding{50, 6}) ==
        "net: node 'op': expects token numbers, 'input' gives real numbers");
  CHECK(refusal(graph_of({9}, {{"op", Relu{}, {}}}, true)) ==
        "net: node 'op': relu cannot read the token numbers of 'input'");
  CHECK(refusal(graph_of({9, 3}, {{"op", Embedding{5, 6}, {}}}, true)) ==
        "net: node 'input': token numbers have the shape [L], found [9, 3]");
}

TEST_CASE("settings out of range are refused in graphs built by code too") {
  Conv op = conv(4, 4, 3);
  op.stride = {1, 0};
  CHECK(refusal({4, 8, 8}, op) ==
        "net: node 'op': key 'stride': found [1, 0], expected an integer or [vertical, "
        "horizontal], from 1 to 65536");
  Conv flat = conv1d(4, 4, 3);
  flat.padding = {1, 1};
  CHECK(refusal({4, 8}, flat) == "net: node 'op': a 1D convolution has vertical extents");
  flat.rank = 3;
  CHECK(refusal({4, 8}, flat) == "net: node 'op': rank is 3, expected 1 or 2");
  CHECK(error_of([] {
          infer_shapes(graph_of({4, 0, 8}, {{"r", Relu{}, {}}}), 1);
        }) == ErrorCode::usage);
}

TEST_CASE("sizes that no machine holds are refused, not overflowed") {
  const std::int64_t most = 1 << 24;
  CHECK(refusal({most, most, most}, Relu{}) ==
        "net: node 'input': output [2, 16777216, 16777216, 16777216] is too large");
  CHECK(refusal({1, 1, 1}, conv(1, 4, 60'000, 65'536)).find("is too large") != std::string::npos);
  CHECK(refusal({most}, Linear{most, most, true}).find("weight") != std::string::npos);
  CHECK(error_of([] { infer_shapes(joined_graph(), std::int64_t{1} << 60); }) == ErrorCode::usage);
  // Each tensor is possible, the work is not: 2^40 positions times 2^36 weights.
  Conv op = conv(1 << 12, 1 << 12, 64, 0);
  op.padding = {32, 32};
  CHECK(refusal({1 << 12, 1 << 13, 1 << 13}, op) == "net: node 'op': the layer is too large");
}

TEST_CASE("fill_input_sizes completes what is 0 and leaves the rest") {
  Graph graph = graph_of({3, 8, 8}, {{"conv", conv(0, 6, 3), {}},
                                     {"bn", BatchNorm{0}, {}},
                                     {"flatten", Flatten{}, {}},
                                     {"fc", Linear{0, 10, true}, {}}});
  fill_input_sizes(graph);
  CHECK(std::get<Conv>(graph.nodes[1].op).in_channels == 3);
  CHECK(std::get<BatchNorm>(graph.nodes[2].op).channels == 6);
  CHECK(std::get<Linear>(graph.nodes[4].op).in_features == 6 * 6 * 6);
  CHECK(output_of(graph) == Shape{2, 10});
  const Graph before = graph;
  fill_input_sizes(graph);
  CHECK(graph == before);
  std::get<Linear>(graph.nodes[4].op).in_features = 7;
  CHECK(error_of([&] { fill_input_sizes(graph); }) == ErrorCode::usage);
}

}  // namespace winnow
