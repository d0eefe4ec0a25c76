#include "export/onnx_graph.h"

#include <utility>

#include "runtime/onnx/onnx_fields.h"

namespace winnow {
namespace {

// What may be given to a node or is given by the graph: a tensor of `shape` with an open batch.
WireWriter value_info(std::string_view name, const Shape& shape, std::int64_t element) {
  WireWriter dimensions;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    WireWriter dimension;
    if (d == 0) {
      dimension.text(onnx::dimension::kOpenSize, "batch");
    } else {
      dimension.integer(onnx::dimension::kSize, shape[d]);
    }
    dimensions.message(onnx::shape::kDimension, dimension);
  }
  WireWriter tensor, type, value;
  tensor.integer(onnx::tensor_type::kElement, element);
  tensor.message(onnx::tensor_type::kShape, dimensions);
  type.message(onnx::type::kTensor, tensor);
  value.text(onnx::value::kName, name);
  value.message(onnx::value::kType, type);
  return value;
}

}  // namespace

WireWriter onnx_attribute(std::string_view name, std::int64_t value) {
  WireWriter attribute;
  attribute.text(onnx::attribute::kName, name);
  attribute.integer(onnx::attribute::kInteger, value);
  attribute.integer(onnx::attribute::kType, onnx::attribute::kIntegerType);
  return attribute;
}

WireWriter onnx_attribute(std::string_view name, std::span<const std::int64_t> values) {
  WireWriter attribute;
  attribute.text(onnx::attribute::kName, name);
  for (const std::int64_t value : values) attribute.integer(onnx::attribute::kIntegers, value);
  attribute.integer(onnx::attribute::kType, onnx::attribute::kIntegersType);
  return attribute;
}

OnnxGraph::OnnxGraph(std::string_view name) {
  message_.text(onnx::graph::kName, name);
}

void OnnxGraph::add_node(std::string_view op, std::string_view name,
                         const std::vector<std::string>& inputs, std::string_view output,
                         const std::vector<WireWriter>& attributes) {
  WireWriter node;
  for (const std::string& input : inputs) node.text(onnx::node::kInput, input);
  node.text(onnx::node::kOutput, output);
  node.text(onnx::node::kName, name);
  node.text(onnx::node::kOperator, op);
  for (const WireWriter& attribute : attributes) {
    node.message(onnx::node::kAttribute, attribute);
  }
  message_.message(onnx::graph::kNode, node);
}

void OnnxGraph::add_constant(std::string_view name, const Shape& shape, std::vector<float> values) {
  const std::vector<float>& kept = constants_.emplace_back(std::move(values));
  WireWriter tensor;
  for (const std::int64_t size : shape) tensor.integer(onnx::tensor::kDims, size);
  tensor.integer(onnx::tensor::kDataType, onnx::element::kFloat);
  tensor.text(onnx::tensor::kName, name);
  tensor.borrow(onnx::tensor::kRawData, std::as_bytes(std::span(kept)));
  message_.message(onnx::graph::kInitializer, tensor);
}

void OnnxGraph::add_input(std::string_view name, const Shape& shape, std::int64_t element) {
  message_.message(onnx::graph::kInput, value_info(name, shape, element));
}

void OnnxGraph::add_output(std::string_view name, const Shape& shape, std::int64_t element) {
  message_.message(onnx::graph::kOutput, value_info(name, shape, element));
}

}  // namespace winnow
