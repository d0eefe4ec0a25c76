// One node of an ONNX graph with the values that it reads, for the functions that translate it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "import/network_builder.h"
#include "import/onnx_file.h"
#include "runtime/base/error.h"

namespace winnow {

// A number of a shape, which is known or that of the samples in a batch.
struct ShapeNumber {
  std::int64_t value = 0;
  bool is_batch = false;
};

// What a name in an ONNX graph stands for.
struct OnnxValue {
  enum class Kind {
    missing,   // an input that was left out
    unknown,   // given by a node that could not be translated
    constant,  // a tensor of the file, or computed from such
    numbers,   // whole numbers in a list or alone: shapes, axes
    network,   // computed by the network
  };

  Kind kind = Kind::missing;
  std::shared_ptr<const Tensor> constant;
  std::vector<ShapeNumber> numbers;
  bool is_single = false;  // a number, no list
  std::string node;        // that gives it
  Shape shape;  // as ONNX has it, without the batch; the node's own lacks ones of pooled positions
  std::array<std::int64_t, 4> padding = {};  // zeros around it: top, left, bottom, right
  bool is_read_once = false;  // one node reads it, and no other name stands for the same

  bool is_padded() const { return padding != std::array<std::int64_t, 4>{}; }
};

OnnxValue constant_value(Tensor tensor);  // numbers, if it holds few integers
OnnxValue numbers_value(std::vector<ShapeNumber> numbers, bool is_single = false);

// All getters refuse with Error{bad_file} what the node does not have as asked.
struct OnnxCall {
  const OnnxNode& node;
  NetworkBuilder& network;
  std::int64_t opset = 0;
  std::optional<std::int64_t> batch;  // the size that the file gives it
  std::vector<OnnxValue> inputs = {};
  std::vector<std::string> constant_names = {};  // of inputs that are initializers, else empty

  template <typename... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(ErrorCode::bad_file, parts...);
  }

  bool has(std::size_t i) const;
  // A value of the network without padding, or with it.
  const OnnxValue& value(std::size_t i) const;
  const OnnxValue& padded_value(std::size_t i) const;
  Tensor constant(std::size_t i) const;  // of numbers too
  std::vector<float> floats(std::size_t i, std::size_t count) const;
  float number(std::size_t i, float if_missing) const;
  std::vector<ShapeNumber> numbers(std::size_t i) const;
  std::vector<std::int64_t> integers(std::size_t i) const;

  std::int64_t integer(const char* attribute, std::int64_t if_missing) const;
  float real(const char* attribute, float if_missing) const;
  std::string text(const char* attribute, const char* if_missing) const;
  std::optional<std::vector<std::int64_t>> list(const char* attribute) const;

  // What a node made of this one is called: as the weights are (without ".weight"), else as the
  // ONNX node, else as its first output.
  std::string name(std::size_t weight_input = SIZE_MAX) const;

  // The value of a new node that reads `from`.
  OnnxValue result(const std::string& node) const;
  OnnxValue add(Op op, const std::string& from) const;

 private:
  const OnnxAttribute* find(const char* attribute, OnnxAttribute::Kind kind) const;
};

}  // namespace winnow
