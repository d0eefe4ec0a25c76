#include "import/onnx_file.h"

#include <set>
#include <utility>

#include "import/onnx_tensor.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/file_kind.h"
#include "runtime/base/suggest.h"
#include "runtime/onnx/onnx_fields.h"
#include "runtime/onnx/wire_reader.h"

namespace winnow {
namespace {

// AttributeProto's field `type`, in files that have it.
OnnxAttribute::Kind kind_from(std::int64_t type) {
  using Kind = OnnxAttribute::Kind;
  switch (type) {
    case onnx::attribute::kRealType:
      return Kind::real;
    case onnx::attribute::kIntegerType:
      return Kind::integer;
    case onnx::attribute::kTextType:
      return Kind::text;
    case onnx::attribute::kTensorType:
      return Kind::tensor;
    case onnx::attribute::kRealsType:
      return Kind::reals;
    case onnx::attribute::kIntegersType:
      return Kind::integers;
    default:
      return Kind::other;
  }
}

void read_attribute(WireReader message, OnnxNode& node) {
  std::string name;
  OnnxAttribute attribute;
  while (message.next()) {
    switch (message.number()) {
      case onnx::attribute::kName:
        name = message.text();
        break;
      case onnx::attribute::kReal:
        attribute.real = message.real();
        break;
      case onnx::attribute::kInteger:
        attribute.integer = message.integer();
        break;
      case onnx::attribute::kText: {
        const auto bytes = message.bytes();
        attribute.text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        break;
      }
      case onnx::attribute::kTensor:
        attribute.tensor = read_onnx_tensor(message.message("tensor of an attribute")).tensor;
        break;
      case onnx::attribute::kReals:
        message.append_floats(attribute.reals);
        break;
      case onnx::attribute::kIntegers:
        message.append_integers(attribute.integers);
        break;
      case onnx::attribute::kType:
        attribute.kind = kind_from(message.integer());
        break;
      default:
        break;
    }
  }
  if (!node.attributes.emplace(name, std::move(attribute)).second) {
    fail(ErrorCode::bad_file, message.file(), ": node ", in_quotes(node.name), ": attribute ",
         in_quotes(name), " comes twice");
  }
}

OnnxNode read_node(WireReader message) {
  OnnxNode node;
  while (message.next()) {
    switch (message.number()) {
      case onnx::node::kInput:
        node.inputs.push_back(message.text());
        break;
      case onnx::node::kOutput:
        node.outputs.push_back(message.text());
        break;
      case onnx::node::kName:
        node.name = message.text();
        break;
      case onnx::node::kOperator:
        node.op = message.text();
        break;
      case onnx::node::kAttribute:
        read_attribute(message.message("attribute"), node);
        break;
      case onnx::node::kDomain:
        node.domain = message.text();
        break;
      default:
        break;
    }
  }
  return node;
}

std::vector<std::int64_t> read_shape(WireReader message) {
  std::vector<std::int64_t> shape;
  while (message.next()) {
    if (message.number() != onnx::shape::kDimension) continue;
    WireReader dimension = message.message("dimension");
    shape.push_back(kOpenDimension);
    while (dimension.next()) {
      if (dimension.number() == onnx::dimension::kSize) shape.back() = dimension.integer();
    }
  }
  return shape;
}

void read_type(WireReader message, OnnxInput& input) {
  while (message.next()) {
    if (message.number() != onnx::type::kTensor) continue;
    WireReader tensor = message.message("tensor type");
    while (tensor.next()) {
      if (tensor.number() == onnx::tensor_type::kElement) input.element_type = tensor.integer();
      if (tensor.number() == onnx::tensor_type::kShape)
        input.shape = read_shape(tensor.message("shape"));
    }
  }
}

OnnxInput read_value_info(WireReader message) {
  OnnxInput input;
  while (message.next()) {
    if (message.number() == onnx::value::kName) input.name = message.text();
    if (message.number() == onnx::value::kType) read_type(message.message("type"), input);
  }
  return input;
}

void read_initializer(WireReader message, OnnxModel& model) {
  const std::string file = message.file();
  OnnxTensor named = read_onnx_tensor(std::move(message));
  if (!model.initializers.emplace(named.name, std::move(named.tensor)).second) {
    fail(ErrorCode::bad_file, file, ": initializer ", in_quotes(named.name), " comes twice");
  }
}

void read_graph(WireReader message, OnnxModel& model) {
  while (message.next()) {
    switch (message.number()) {
      case onnx::graph::kNode:
        model.nodes.push_back(read_node(message.message("node")));
        break;
      case onnx::graph::kName:
        model.name = message.text();
        break;
      case onnx::graph::kInitializer:
        read_initializer(message.message("initializer"), model);
        break;
      case onnx::graph::kInput:
        model.inputs.push_back(read_value_info(message.message("input")));
        break;
      case onnx::graph::kOutput:
        model.outputs.push_back(read_value_info(message.message("output")).name);
        break;
      case onnx::graph::kSparseInitializer:
        fail(ErrorCode::bad_file, message.file(),
             ": found a sparse initializer, expected dense ones");
      default:
        break;
    }
  }
}

void read_opset(WireReader message, OnnxModel& model) {
  std::string domain;
  std::int64_t version = 0;
  while (message.next()) {
    if (message.number() == onnx::operator_set::kDomain) domain = message.text();
    if (message.number() == onnx::operator_set::kVersion) version = message.integer();
  }
  if (domain.empty() || domain == "ai.onnx") model.opset = version;
}

}  // namespace

OnnxModel read_onnx(const std::string& path) {
  return parse_onnx(MappedFile(path).bytes(), path);
}

OnnxModel parse_onnx(std::span<const std::byte> bytes, const std::string& path) {
  const std::string kind = file_kind(bytes);
  if (!kind.empty() && kind != "an ONNX model") {
    fail(ErrorCode::bad_file, path, ": byte 0: no ONNX file, but ", kind);
  }
  WireReader message(bytes, path, "model");
  OnnxModel model;
  bool has_graph = false;
  while (message.next()) {
    if (message.number() == onnx::model::kOperatorSet)
      read_opset(message.message("operator set"), model);
    if (message.number() != onnx::model::kGraph) continue;
    if (has_graph) fail(ErrorCode::bad_file, path, ": found a second graph, expected one");
    has_graph = true;
    read_graph(message.message("graph"), model);
  }
  if (!has_graph) fail(ErrorCode::bad_file, path, ": no ONNX file: it has no graph");
  return model;
}

}  // namespace winnow
