// Makes ONNX files for tests: messages of protocol buffers, field by field.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/model/shape.h"

namespace winnow::onnx_writer {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

inline std::string field(std::uint64_t number, std::uint64_t value) {
  return varint(number << 3) + varint(value);
}

inline std::string field(std::uint64_t number, std::string_view bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}

template <typename T>
std::string raw(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline std::string shape(const Shape& dims) {
  std::string bytes;
  for (const std::int64_t size : dims) bytes += field(1, static_cast<std::uint64_t>(size));
  return bytes;
}

// `type`: 1 float, 7 int64, 10 float16.
inline std::string tensor(std::string_view name, const Shape& dims, std::uint64_t type,
                          std::string_view data) {
  return shape(dims) + field(2, type) + field(8, name) + field(9, data);
}

inline std::string floats(std::string_view name, const Shape& dims,
                          const std::vector<float>& values) {
  return tensor(name, dims, 1, raw(values));
}

inline std::string int64s(std::string_view name, const std::vector<std::int64_t>& values) {
  return tensor(name, {static_cast<std::int64_t>(values.size())}, 7, raw(values));
}

inline std::string integer(std::string_view name, std::int64_t value) {
  return field(1, name) + field(3, static_cast<std::uint64_t>(value)) + field(20, 2);
}

inline std::string integers(std::string_view name, const std::vector<std::int64_t>& values) {
  std::string bytes = field(1, name) + field(20, 7);
  for (const std::int64_t value : values) bytes += field(8, static_cast<std::uint64_t>(value));
  return bytes;
}

inline std::string real(std::string_view name, float value) {
  std::string bits(sizeof value, '\0');
  std::memcpy(bits.data(), &value, sizeof value);
  return field(1, name) + varint(2 << 3 | 5) + bits + field(20, 1);
}

inline std::string text(std::string_view name, std::string_view value) {
  return field(1, name) + field(4, value) + field(20, 3);
}

inline std::string node(std::string_view op, const std::vector<std::string>& inputs,
                        std::string_view output, const std::vector<std::string>& attributes = {}) {
  std::string bytes;
  for (const std::string& input : inputs) bytes += field(1, input);
  bytes += field(2, output) + field(3, "the_" + std::string(output)) + field(4, op);
  for (const std::string& attribute : attributes) bytes += field(5, attribute);
  return bytes;
}

// A value of floats whose first dimension is open.
inline std::string value(std::string_view name, const Shape& sample) {
  std::string dims = field(1, field(2, std::string_view("batch")));
  for (const std::int64_t size : sample) {
    dims += field(1, field(1, static_cast<std::uint64_t>(size)));
  }
  return field(1, name) + field(2, field(1, field(1, std::uint64_t{1}) + field(2, dims)));
}

struct Network {
  Shape sample;
  std::vector<std::string> nodes;
  std::vector<std::string> initializers;
  std::vector<std::string> outputs = {"y"};
  std::uint64_t opset = 13;
};

// The input is called x.
inline std::string model(const Network& network) {
  std::string graph;
  for (const std::string& bytes : network.nodes) graph += field(1, bytes);
  graph += field(2, "net");
  for (const std::string& bytes : network.initializers) graph += field(5, bytes);
  graph += field(11, value("x", network.sample));
  for (const std::string& name : network.outputs) graph += field(12, field(1, name));
  return field(1, std::uint64_t{8}) + field(8, field(2, network.opset)) + field(7, graph);
}

}  // namespace winnow::onnx_writer
