// An ONNX model as its file has it: nodes, constants, inputs. Only what an import needs.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/model/tensor.h"

namespace winnow {

// Of the kinds of attributes: numbers, texts, tensors. Others (graphs) have the kind `other`.
struct OnnxAttribute {
  enum class Kind { real, integer, text, tensor, reals, integers, other };

  Kind kind = Kind::other;
  float real = 0;
  std::int64_t integer = 0;
  std::string text;
  Tensor tensor;
  std::vector<float> reals;
  std::vector<std::int64_t> integers;
};

struct OnnxNode {
  std::string name;
  std::string op;
  std::string domain;               // empty: ONNX's own operators
  std::vector<std::string> inputs;  // an empty name: left out
  std::vector<std::string> outputs;
  std::map<std::string, OnnxAttribute> attributes;
};

constexpr std::int64_t kOpenDimension = -1;  // a size that the file does not tell

struct OnnxInput {
  std::string name;
  std::int64_t element_type = 0;  // as ONNX numbers them: 1 is float
  std::vector<std::int64_t> shape;
};

struct OnnxModel {
  std::int64_t opset = 0;
  std::string name;
  std::vector<OnnxNode> nodes;
  std::map<std::string, Tensor> initializers;
  std::vector<OnnxInput> inputs;
  std::vector<std::string> outputs;
};

// Throws Error{bad_file} with file, place, what was found and what was expected. Memory stays
// within a small multiple of the file's size, whatever the file says.
OnnxModel read_onnx(const std::string& path);

// The same of a file's bytes; messages name it `path`.
OnnxModel parse_onnx(std::span<const std::byte> bytes, const std::string& path);

}  // namespace winnow
