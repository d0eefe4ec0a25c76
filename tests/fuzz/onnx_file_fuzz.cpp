// Feeds damaged ONNX files to the import. Whatever it takes must be a sound network whose
// parameters are all there; whatever it refuses must be refused as a bad file. Files begin as small
// networks of most operators. A few bytes may ask for constants of a gigabyte: run with
// -rss_limit_mb=4096.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "import/onnx_import.h"
#include "runtime/base/error.h"
#include "tests/import/onnx_writer.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace winnow::onnx_writer;

std::span<const std::byte> bytes_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

std::string image_network() {
  return model({{2, 6, 6},
                {node("Pad", {"x", "p"}, "padded"),
                 node("Conv", {"padded", "w", "b"}, "c", {integers("pads", {0, 0, 1, 1})}),
                 node("BatchNormalization", {"c", "b", "b", "b", "b"}, "n"),
                 node("Clip", {"n", "zero", "six"}, "r"),
                 node("MaxPool", {"r"}, "m",
                      {integers("kernel_shape", {3, 3}), integers("strides", {2, 2}),
                       integers("pads", {0, 1, 1, 0}), integer("ceil_mode", 1)}),
                 node("AveragePool", {"m"}, "a",
                      {integers("kernel_shape", {2, 2}), text("auto_pad", "SAME_UPPER")}),
                 node("Concat", {"m", "a"}, "both", {integer("axis", 1)}),
                 node("GlobalAveragePool", {"both"}, "g"), node("Flatten", {"g"}, "f"),
                 node("Gemm", {"f", "v"}, "y", {integer("transB", 1)})},
                {int64s("p", {0, 0, 1, 1, 0, 0, 0, 0}),
                 floats("w", {2, 2, 2, 2}, std::vector<float>(16, 0.5F)), floats("b", {2}, {1, 2}),
                 floats("zero", {}, {0}), floats("six", {}, {6}),
                 floats("v", {2, 4}, std::vector<float>(8, 1.0F))}});
}

std::string reshaping_network() {
  return model({{1, 2, 2},
                {node("Mul", {"x", "s"}, "scaled"), node("Shape", {"scaled"}, "shape"),
                 node("Gather", {"shape", "zero"}, "batch"),
                 node("Concat", {"batch", "rest"}, "asked", {integer("axis", 0)}),
                 node("Reshape", {"scaled", "asked"}, "flat"), node("Dropout", {"flat"}, "d"),
                 node("MatMul", {"d", "w"}, "product"), node("Add", {"product", "t"}, "sum"),
                 node("Softmax", {"sum"}, "y")},
                {floats("s", {1}, {2}), int64s("zero", {0}), int64s("rest", {-1}),
                 floats("w", {4, 2}, std::vector<float>(8, 0.5F)), floats("t", {2}, {1, 2})}});
}

bool is_sound(std::span<const std::byte> bytes) {
  try {
    winnow::parse_onnx(bytes, "fuzz");
    return true;
  } catch (const winnow::Error&) {
    return false;
  }
}

}  // namespace

// Damage is done to files that can be read only, so that it reaches the operators.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  if (!is_sound(bytes_of(data, size))) {
    const std::string file = seed % 2 == 0 ? image_network() : reshaping_network();
    size = std::min(file.size(), max_size);
    std::copy_n(file.begin(), size, data);
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  winnow::Model model;
  try {
    model = winnow::import_onnx(winnow::parse_onnx(bytes_of(data, size), "fuzz"), "fuzz");
  } catch (const winnow::Error& error) {
    const bool is_refusal =
        error.code() == winnow::ErrorCode::bad_file || error.code() == winnow::ErrorCode::usage;
    if (!is_refusal) __builtin_trap();
    return 0;
  }
  winnow::infer_shapes(model.graph, 1);  // throws if the graph is not sound, which ends the run
  for (const winnow::Node& node : model.graph.nodes) {
    for (const winnow::Parameter& parameter : winnow::parameters_of(node)) {
      if (model.tensors.at(parameter.name).shape() != parameter.shape) __builtin_trap();
    }
  }
  return 0;
}
