// Each operator of ONNX on numbers that can be worked out by hand, run by the reference loops.
#include <doctest/doctest.h>

#include "export/export_model.h"
#include "import/onnx_import.h"
#include "runtime/reference/reference_session.h"
#include "tests/import/onnx_writer.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using namespace onnx_writer;

Model imported(const Network& network) {
  const TemporaryDirectory directory;
  const std::string path = directory / "m.onnx";
  write_file_atomically(path, model(network));
  return import_onnx(read_onnx(path), path);
}

std::vector<float> run(const Network& network, const std::vector<float>& input) {
  const DeployedModel deployed = export_model(imported(network), {}).model;
  const auto session = make_reference_session(deployed, {});
  const std::vector<Shape> shapes = infer_shapes(deployed.graph, 1);
  std::vector<float> output(static_cast<std::size_t>(element_count(shapes.back())));
  session->run(input, output);
  return output;
}

using Floats = std::vector<float>;

}  // namespace

TEST_CASE("a convolution takes weights, bias, stride and padding") {
  const Network network{{1, 3, 3},
                        {node("Conv", {"x", "w", "b"}, "y",
                              {integers("strides", {2, 2}), integers("pads", {1, 1, 1, 1})})},
                        {floats("w", {1, 1, 2, 2}, {1, 10, 100, 1000}), floats("b", {1}, {0.5F})}};
  CHECK(run(network, {1, 2, 3, 4, 5, 6, 7, 8, 9}) == Floats{1000.5F, 3200.5F, 7040.5F, 9865.5F});
}

TEST_CASE("padding on one side enlarges the kernel by zeros") {
  Network network{{1, 2, 2},
                  {node("Conv", {"x", "w"}, "y", {integers("pads", {0, 0, 1, 1})})},
                  {floats("w", {1, 1, 2, 2}, {1, 10, 100, 1000})}};
  CHECK(run(network, {1, 2, 3, 4}) == Floats{4321, 402, 43, 4});
  network.nodes[0] = node("Conv", {"x", "w"}, "y", {integers("pads", {1, 1, 0, 0})});
  CHECK(run(network, {1, 2, 3, 4}) == Floats{1000, 2100, 3010, 4321});
  network.nodes[0] = node("Conv", {"x", "w"}, "y", {text("auto_pad", "SAME_UPPER")});
  CHECK(run(network, {1, 2, 3, 4}) == Floats{4321, 402, 43, 4});
  network.nodes = {node("Pad", {"x", "p"}, "padded"), node("Conv", {"padded", "w"}, "y")};
  network.initializers.push_back(int64s("p", {0, 0, 1, 1, 0, 0, 0, 0}));
  CHECK(run(network, {1, 2, 3, 4}) == Floats{1000, 2100, 3010, 4321});
}

TEST_CASE("a Gemm is a linear layer, with alpha, beta and either order of weights") {
  Network network{{2},
                  {node("Gemm", {"x", "w", "b"}, "y",
                        {integer("transB", 1), real("alpha", 2), real("beta", 3)})},
                  {floats("w", {2, 2}, {1, 2, 3, 4}), floats("b", {2}, {1, -1})}};
  CHECK(run(network, {1, 10}) == Floats{45, 83});
  network.nodes[0] = node("Gemm", {"x", "w", "b"}, "y");
  CHECK(run(network, {1, 10}) == Floats{32, 41});
}

TEST_CASE("a bias behind a MatMul goes into the layer") {
  const Network network{{2},
                        {node("MatMul", {"x", "w"}, "product"), node("Add", {"b", "product"}, "y")},
                        {floats("w", {2, 2}, {1, 2, 3, 4}), floats("b", {2}, {0.5F, 1})}};
  CHECK(run(network, {1, 10}) == Floats{31.5F, 43});
  CHECK(imported(network).graph.nodes.size() == 2);
}

TEST_CASE("scales and shifts of channels go into a convolution that only they read, else stay") {
  Network network{{1, 1, 2},
                  {node("Conv", {"x", "w"}, "c"), node("Mul", {"c", "s"}, "scaled"),
                   node("Sub", {"t", "scaled"}, "y")},
                  {floats("w", {2, 1, 1, 1}, {1, 10}), floats("s", {2, 1, 1}, {2, 3}),
                   floats("t", {1, 2, 1, 1}, {1, 5})}};
  CHECK(run(network, {1, 4}) == Floats{-1, -7, -25, -115});
  CHECK(imported(network).graph.nodes.size() == 2);

  network.nodes.back() = node("Add", {"c", "scaled"}, "y");  // c is read twice
  CHECK(run(network, {1, 4}) == Floats{3, 12, 40, 160});
}

TEST_CASE("batch norm, relu and sums") {
  const Network network{
      {2, 1, 1},
      {node("BatchNormalization", {"x", "g", "b", "m", "v"}, "n", {real("epsilon", 1e-5F)}),
       node("Relu", {"n"}, "r"), node("Add", {"r", "x"}, "y")},
      {floats("g", {2}, {2, 1}), floats("b", {2}, {1, 0}), floats("m", {2}, {1, 10}),
       floats("v", {2}, {4, 1})}};
  const Floats output = run(network, {5, 3});
  CHECK(output[0] == doctest::Approx(5 + 5));
  CHECK(output[1] == doctest::Approx(3));
}

TEST_CASE("pooling, concatenation, and a flatten that is a Reshape of a computed shape") {
  const Network network{
      {1, 2, 2},
      {node("MaxPool", {"x"}, "high", {integers("kernel_shape", {2, 2})}),
       node("AveragePool", {"x"}, "mean", {integers("kernel_shape", {2, 2})}),
       node("Concat", {"high", "mean"}, "both", {integer("axis", -3)}),
       node("Shape", {"both"}, "shape"), node("Gather", {"shape", "zero"}, "batch"),
       node("Concat", {"batch", "rest"}, "asked", {integer("axis", 0)}),
       node("Reshape", {"both", "asked"}, "flat"), node("Clip", {"flat", "low"}, "y")},
      {int64s("zero", {0}), int64s("rest", {-1}), floats("low", {}, {0})}};
  CHECK(run(network, {1, 2, 3, -10}) == Floats{3, 0});
}

TEST_CASE("a Clip from 0 is a relu with an upper bound, by inputs or by attributes") {
  Network network{{4},
                  {node("Clip", {"x", "low", "high"}, "y")},
                  {floats("low", {}, {0}), floats("high", {}, {6})}};
  CHECK(run(network, {-1, 2, 6, 7}) == Floats{0, 2, 6, 6});
  CHECK(std::get<Relu>(imported(network).graph.nodes.back().op) == Relu{6.0});
  network.opset = 10;
  network.nodes = {node("Clip", {"x"}, "y", {real("min", 0), real("max", 2.5F)})};
  CHECK(run(network, {-1, 2, 6, 7}) == Floats{0, 2, 2.5F, 2.5F});
  network.nodes = {node("Clip", {"x"}, "y", {real("min", 0)})};
  CHECK(std::get<Relu>(imported(network).graph.nodes.back().op) == Relu{});
}

TEST_CASE("pools round up, pad unevenly and leave padding out as ONNX says") {
  const auto pooled = [](const char* op, std::vector<std::string> attributes) {
    attributes.push_back(integers("kernel_shape", {2}));
    attributes.push_back(integers("strides", {2}));
    const Network network{{1, 5}, {node(op, {"x"}, "y", attributes)}, {}};
    return run(network, {1, 3, 2, 0, 9});
  };
  const std::string up = integer("ceil_mode", 1), counted = integer("count_include_pad", 1);
  CHECK(pooled("MaxPool", {}) == Floats{3, 2});
  CHECK(pooled("MaxPool", {up}) == Floats{3, 2, 9});
  CHECK(pooled("MaxPool", {integers("pads", {0, 1})}) == Floats{3, 2, 9});
  CHECK(pooled("MaxPool", {text("auto_pad", "SAME_LOWER")}) == Floats{1, 3, 9});
  CHECK(pooled("AveragePool", {up}) == Floats{2, 1, 9});
  CHECK(pooled("AveragePool", {integers("pads", {1, 0})}) == Floats{1, 2.5F, 4.5F});
  CHECK(pooled("AveragePool", {integers("pads", {1, 0}), counted}) == Floats{0.5F, 2.5F, 4.5F});
  CHECK(pooled("AveragePool", {integers("pads", {0, 1}), counted}) == Floats{2, 1, 4.5F});
  CHECK(pooled("AveragePool", {integers("pads", {0, 1}), up}) == Floats{2, 1, 9});
  const Network one{
      {1, 1},
      {node("MaxPool", {"x"}, "y", {integers("kernel_shape", {2}), integers("strides", {2}), up})},
      {}};
  CHECK(run(one, {7}) == Floats{7});
}

TEST_CASE("settings of pools that make no difference are left out") {
  const auto imported_pool = [](std::int64_t size, std::vector<std::string> attributes) {
    attributes.push_back(integers("kernel_shape", {2, 2}));
    attributes.push_back(integers("strides", {2, 2}));
    const Network network{{1, size, size}, {node("AveragePool", {"x"}, "y", attributes)}, {}};
    return std::get<Pool>(imported(network).graph.nodes.back().op);
  };
  const std::string up = integer("ceil_mode", 1);
  CHECK(imported_pool(6, {up}) == Pool{PoolKind::average});
  CHECK(imported_pool(5, {up}).rounds_up);
  CHECK(imported_pool(5, {integers("pads", {0, 0, 0, 0})}) == Pool{PoolKind::average});
  // One row more behind six rows begins no window.
  CHECK(imported_pool(6, {integers("pads", {0, 0, 1, 1})}) == Pool{PoolKind::average});
  const Pool uneven = imported_pool(5, {integers("pads", {0, 0, 1, 1})});
  CHECK(uneven.padding_end == Pair{1, 1});
  CHECK_FALSE(uneven.counts_padding);
}

TEST_CASE("zeros of a Pad count in an AveragePool") {
  Network network{{1, 1, 3},
                  {node("Pad", {"x", "p"}, "padded"),
                   node("AveragePool", {"padded"}, "y",
                        {integers("kernel_shape", {1, 2}), integers("strides", {1, 2})})},
                  {int64s("p", {0, 0, 0, 1, 0, 0, 0, 1})}};
  CHECK(run(network, {2, 4, 6}) == Floats{1, 5});
}

TEST_CASE("global pooling, a convolution of pooled values and a softmax") {
  const Network network{{1, 1, 2},
                        {node("GlobalAveragePool", {"x"}, "g"), node("Dropout", {"g"}, "d"),
                         node("Conv", {"d", "head.weight"}, "c"), node("Flatten", {"c"}, "f"),
                         node("Softmax", {"f"}, "y")},
                        {floats("head.weight", {2, 1, 1, 1}, {1, 1})}};
  CHECK(run(network, {1, 3}) == Floats{0.5F, 0.5F});
  CHECK(imported(network).graph.nodes[2].name == "head");
}

TEST_CASE("half floats, and numbers in the fields of their type") {
  Network network{{1}, {node("MatMul", {"x", "w"}, "y")}, {}};
  const std::string halves = raw<std::uint16_t>({0x3e00, 0xc000});  // 1.5 and -2
  network.initializers = {tensor("w", {1, 2}, 10, halves)};
  CHECK(run(network, {2}) == Floats{3, -4});
  network.initializers = {shape({1, 2}) + field(2, std::uint64_t{10}) + field(8, "w") +
                          field(5, varint(0x3e00) + varint(0xc000))};
  CHECK(run(network, {2}) == Floats{3, -4});
  network.initializers = {shape({1, 2}) + field(2, std::uint64_t{1}) + field(8, "w") +
                          field(4, raw<float>({1.5F, -2}))};
  CHECK(run(network, {2}) == Floats{3, -4});
}

TEST_CASE("layers that do not lead to the output are left out") {
  const Network network{{1},
                        {node("MatMul", {"x", "w"}, "unused"), node("MatMul", {"x", "w"}, "y")},
                        {floats("w", {1, 1}, {2})}};
  CHECK(imported(network).graph.nodes.size() == 2);
  CHECK(imported(network).tensors.size() == 1);
}

}  // namespace winnow
