// The graph of an ONNX model, node by node. For the sources of this folder only.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/model/shape.h"
#include "runtime/onnx/wire_writer.h"

namespace winnow {

// Attributes of a node.
WireWriter onnx_attribute(std::string_view name, std::int64_t value);
WireWriter onnx_attribute(std::string_view name, std::span<const std::int64_t> values);

class OnnxGraph {
 public:
  explicit OnnxGraph(std::string_view name);

  void add_node(std::string_view op, std::string_view name, const std::vector<std::string>& inputs,
                std::string_view output, const std::vector<WireWriter>& attributes);

  // A constant in fp32. The values are kept as long as this object lives.
  void add_constant(std::string_view name, const Shape& shape, std::vector<float> values);

  // `shape` has the batch first, which stays open; `element` is a number of onnx::element.
  void add_input(std::string_view name, const Shape& shape, std::int64_t element);
  void add_output(std::string_view name, const Shape& shape, std::int64_t element);

  // Valid as long as this object lives.
  const WireWriter& message() const { return message_; }

 private:
  WireWriter message_;
  std::deque<std::vector<float>> constants_;  // which message_ borrows
};

}  // namespace winnow
