#include "import/onnx_file.h"

#include <set>
#include <utility>

#include "import/onnx_tensor.h"
#include "import/wire_reader.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/file_kind.h"
#include "runtime/base/suggest.h"

// The numbers in the switches are those of the fields, as ONNX publishes them in onnx.proto.

namespace winnow {
namespace {

// AttributeProto's field `type`, in files that have it.
OnnxAttribute::Kind kind_from(std::int64_t type) {
  using Kind = OnnxAttribute::Kind;
  switch (type) {
    case 1:
      return Kind::real;
    case 2:
      return Kind::integer;
    case 3:
      return Kind::text;
    case 4:
      return Kind::tensor;
    case 6:
      return Kind::reals;
    case 7:
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
      case 1:
        name = message.text();
        break;
      case 2:
        attribute.real = message.real();
        break;
      case 3:
        attribute.integer = message.integer();
        break;
      case 4: {
        const auto bytes = message.bytes();
        attribute.text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        break;
      }
      case 5:
        attribute.tensor = read_onnx_tensor(message.message("tensor of an attribute")).tensor;
        break;
      case 7:
        message.append_floats(attribute.reals);
        break;
      case 8:
        message.append_integers(attribute.integers);
        break;
      case 20:
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
      case 1:
        node.inputs.push_back(message.text());
        break;
      case 2:
        node.outputs.push_back(message.text());
        break;
      case 3:
        node.name = message.text();
        break;
      case 4:
        node.op = message.text();
        break;
      case 5:
        read_attribute(message.message("attribute"), node);
        break;
      case 7:
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
    if (message.number() != 1) continue;
    WireReader dimension = message.message("dimension");
    shape.push_back(kOpenDimension);
    while (dimension.next()) {
      if (dimension.number() == 1) shape.back() = dimension.integer();
    }
  }
  return shape;
}

void read_type(WireReader message, OnnxInput& input) {
  while (message.next()) {
    if (message.number() != 1) continue;
    WireReader tensor = message.message("tensor type");
    while (tensor.next()) {
      if (tensor.number() == 1) input.element_type = tensor.integer();
      if (tensor.number() == 2) input.shape = read_shape(tensor.message("shape"));
    }
  }
}

OnnxInput read_value_info(WireReader message) {
  OnnxInput input;
  while (message.next()) {
    if (message.number() == 1) input.name = message.text();
    if (message.number() == 2) read_type(message.message("type"), input);
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
      case 1:
        model.nodes.push_back(read_node(message.message("node")));
        break;
      case 2:
        model.name = message.text();
        break;
      case 5:
        read_initializer(message.message("initializer"), model);
        break;
      case 11:
        model.inputs.push_back(read_value_info(message.message("input")));
        break;
      case 12:
        model.outputs.push_back(read_value_info(message.message("output")).name);
        break;
      case 15:
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
    if (message.number() == 1) domain = message.text();
    if (message.number() == 2) version = message.integer();
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
    if (message.number() == 8) read_opset(message.message("operator set"), model);
    if (message.number() != 7) continue;
    if (has_graph) fail(ErrorCode::bad_file, path, ": found a second graph, expected one");
    has_graph = true;
    read_graph(message.message("graph"), model);
  }
  if (!has_graph) fail(ErrorCode::bad_file, path, ": no ONNX file: it has no graph");
  return model;
}

}  // namespace winnow
