#include "runtime/model/tensor.h"

#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors hold little-endian bytes");

struct TypeEntry {
  DataType type;
  std::string_view name;
  std::size_t size;
};

constexpr std::array<TypeEntry, 10> kTypes = {{
    {DataType::f64, "F64", 8},
    {DataType::f32, "F32", 4},
    {DataType::f16, "F16", 2},
    {DataType::bf16, "BF16", 2},
    {DataType::i64, "I64", 8},
    {DataType::i32, "I32", 4},
    {DataType::i16, "I16", 2},
    {DataType::i8, "I8", 1},
    {DataType::u8, "U8", 1},
    {DataType::boolean, "BOOL", 1},
}};

const TypeEntry& entry_of(DataType type) {
  for (const TypeEntry& entry : kTypes) {
    if (entry.type == type) return entry;
  }
  fail(ErrorCode::internal, "data type ", static_cast<int>(type), " does not exist");
}

std::size_t byte_count(DataType type, const Shape& shape) {
  const auto count = static_cast<std::uint64_t>(element_count(shape));
  const std::size_t size = size_of(type);
  if (count > static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()) / size) {
    fail(ErrorCode::usage, "a tensor of shape ", to_string(shape), " is too large");
  }
  return static_cast<std::size_t>(count) * size;
}

template <typename T>
std::vector<float> converted(std::span<const T> values) {
  std::vector<float> floats(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) floats[i] = static_cast<float>(values[i]);
  return floats;
}

std::vector<float> from_halves(std::span<const Half> values) {
  std::vector<float> floats(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) floats[i] = to_float(values[i]);
  return floats;
}

// bf16 is the upper half of a float.
std::vector<float> from_bf16(std::span<const std::byte> bytes) {
  std::vector<float> floats(bytes.size() / 2);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const auto low = std::to_integer<std::uint32_t>(bytes[2 * i]);
    const auto high = std::to_integer<std::uint32_t>(bytes[2 * i + 1]);
    floats[i] = std::bit_cast<float>(low << 16 | high << 24);
  }
  return floats;
}

std::vector<float> from_bytes(std::span<const std::byte> bytes) {
  std::vector<float> floats(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    floats[i] = std::to_integer<std::uint8_t>(bytes[i]);
  return floats;
}

}  // namespace

std::size_t size_of(DataType type) {
  return entry_of(type).size;
}

std::string_view to_string(DataType type) {
  return entry_of(type).name;
}

DataType data_type_from(std::string_view safetensors_name) {
  std::vector<std::string> names;
  for (const TypeEntry& entry : kTypes) {
    if (entry.name == safetensors_name) return entry.type;
    names.emplace_back(entry.name);
  }
  fail(ErrorCode::bad_file, "unsupported element type ", in_quotes(safetensors_name),
       suggestion(safetensors_name, names));
}

Tensor::Tensor(DataType type, Shape shape)
    : type_(type), shape_(std::move(shape)), bytes_(byte_count(type_, shape_)) {}

void Tensor::require_type(DataType wanted) const {
  if (type_ == wanted) return;
  fail(ErrorCode::usage, "the tensor holds ", to_string(type_), ", ", to_string(wanted),
       " was asked for");
}

void Tensor::require_count(std::size_t count) const {
  if (static_cast<std::uint64_t>(element_count(shape_)) == count) return;
  fail(ErrorCode::usage, "shape ", to_string(shape_), " does not hold ", count, " values");
}

std::vector<float> to_floats(const Tensor& tensor) {
  switch (tensor.type()) {
    case DataType::f64:
      return converted(tensor.values<double>());
    case DataType::f32:
      return converted(tensor.values<float>());
    case DataType::f16:
      return from_halves(tensor.values<Half>());
    case DataType::bf16:
      return from_bf16(tensor.bytes());
    case DataType::i64:
      return converted(tensor.values<std::int64_t>());
    case DataType::i32:
      return converted(tensor.values<std::int32_t>());
    case DataType::i16:
      return converted(tensor.values<std::int16_t>());
    case DataType::i8:
      return converted(tensor.values<std::int8_t>());
    case DataType::u8:
    case DataType::boolean:
      return from_bytes(tensor.bytes());
  }
  fail(ErrorCode::internal, "data type ", static_cast<int>(tensor.type()), " does not exist");
}

}  // namespace winnow
