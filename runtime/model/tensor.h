// A dense tensor in host memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/half.h"
#include "runtime/model/shape.h"

namespace winnow {

// The element types of safetensors that Winnow reads and writes.
enum class DataType { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };

std::size_t size_of(DataType type);
std::string_view to_string(DataType type);  // safetensors' name: "F32", "BOOL", ...
DataType data_type_from(std::string_view safetensors_name);  // Throws Error{bad_file}

template <typename T>
constexpr DataType data_type_of();
template <>
constexpr DataType data_type_of<double>() {
  return DataType::f64;
}
template <>
constexpr DataType data_type_of<float>() {
  return DataType::f32;
}
template <>
constexpr DataType data_type_of<Half>() {
  return DataType::f16;
}
template <>
constexpr DataType data_type_of<std::int64_t>() {
  return DataType::i64;
}
template <>
constexpr DataType data_type_of<std::int32_t>() {
  return DataType::i32;
}
template <>
constexpr DataType data_type_of<std::int16_t>() {
  return DataType::i16;
}
template <>
constexpr DataType data_type_of<std::int8_t>() {
  return DataType::i8;
}
template <>
constexpr DataType data_type_of<std::uint8_t>() {
  return DataType::u8;
}

class Tensor {
 public:
  Tensor() = default;
  Tensor(DataType type, Shape shape);  // zeros

  template <typename T>
  static Tensor from(Shape shape, std::span<const T> values) {
    Tensor tensor(data_type_of<T>(), std::move(shape));
    tensor.require_count(values.size());
    std::copy(values.begin(), values.end(), tensor.values<T>().begin());
    return tensor;
  }

  DataType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  std::int64_t count() const { return element_count(shape_); }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<std::byte> bytes() { return bytes_; }

  // Throws Error{usage} if T is not the tensor's element type.
  template <typename T>
  std::span<const T> values() const {
    require_type(data_type_of<T>());
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  template <typename T>
  std::span<T> values() {
    require_type(data_type_of<T>());
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

  friend bool operator==(const Tensor&, const Tensor&) = default;

 private:
  void require_type(DataType wanted) const;
  void require_count(std::size_t count) const;

  DataType type_ = DataType::f32;
  Shape shape_ = {0};
  std::vector<std::byte> bytes_;
};

// A tensor of any element type as floats (f64, i64 and i32 are rounded; BOOL gives 0 or 1).
std::vector<float> to_floats(const Tensor& tensor);

}  // namespace winnow
