#include "import/onnx_tensor.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/onnx/onnx_fields.h"

namespace winnow {
namespace {

std::optional<DataType> data_type_from_onnx(std::int64_t number) {
  switch (number) {
    case onnx::element::kFloat:
      return DataType::f32;
    case onnx::element::kUint8:
      return DataType::u8;
    case onnx::element::kInt8:
      return DataType::i8;
    case onnx::element::kInt16:
      return DataType::i16;
    case onnx::element::kInt32:
      return DataType::i32;
    case onnx::element::kInt64:
      return DataType::i64;
    case onnx::element::kBool:
      return DataType::boolean;
    case onnx::element::kFloat16:
      return DataType::f16;
    case onnx::element::kDouble:
      return DataType::f64;
    case onnx::element::kBfloat16:
      return DataType::bf16;
    default:
      return std::nullopt;
  }
}

// The fields as they were found.
struct Parts {
  std::string name;
  Shape dims;
  std::int64_t type = 0;
  std::vector<float> floats;
  std::vector<std::int64_t> int32s;
  std::vector<std::int64_t> int64s;
  std::vector<double> doubles;
  std::optional<std::span<const std::byte>> raw;
  bool is_elsewhere = false;
  bool is_segment = false;
};

Parts parts_of(WireReader& message) {
  Parts parts;
  while (message.next()) {
    switch (message.number()) {
      case onnx::tensor::kDims:
        message.append_integers(parts.dims);
        break;
      case onnx::tensor::kDataType:
        parts.type = message.integer();
        break;
      case onnx::tensor::kSegment:
        parts.is_segment = true;
        break;
      case onnx::tensor::kFloatData:
        message.append_floats(parts.floats);
        break;
      case onnx::tensor::kInt32Data:
        message.append_integers(parts.int32s);
        break;
      case onnx::tensor::kInt64Data:
        message.append_integers(parts.int64s);
        break;
      case onnx::tensor::kName:
        parts.name = message.text();
        break;
      case onnx::tensor::kRawData:
        parts.raw = message.bytes();
        break;
      case onnx::tensor::kDoubleData:
        message.append_doubles(parts.doubles);
        break;
      case onnx::tensor::kExternalData:
        parts.is_elsewhere = true;
        break;
      case onnx::tensor::kDataLocation:
        parts.is_elsewhere = parts.is_elsewhere || message.integer() != 0;
        break;
      default:
        break;
    }
  }
  return parts;
}

// The bytes of `count` values of int32_data, of which each keeps its lowest bytes.
template <typename Stored>
void store_lowest(std::span<const std::int64_t> values, std::span<std::byte> out) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto stored = static_cast<Stored>(static_cast<std::uint64_t>(values[i]));
    const auto bytes = std::as_bytes(std::span(&stored, 1));
    std::copy(bytes.begin(), bytes.end(),
              out.begin() + static_cast<std::ptrdiff_t>(i * bytes.size()));
  }
}

void store_integers(std::span<const std::int64_t> values, Tensor& tensor) {
  switch (size_of(tensor.type())) {
    case 1:
      return store_lowest<std::uint8_t>(values, tensor.bytes());
    case 2:
      return store_lowest<std::uint16_t>(values, tensor.bytes());
    case 4:
      return store_lowest<std::uint32_t>(values, tensor.bytes());
    default:
      return store_lowest<std::uint64_t>(values, tensor.bytes());
  }
}

// Of the field that holds values of this type.
std::size_t typed_count(const Parts& parts, DataType type) {
  if (type == DataType::f32) return parts.floats.size();
  if (type == DataType::f64) return parts.doubles.size();
  return type == DataType::i64 ? parts.int64s.size() : parts.int32s.size();
}

template <typename T>
void copy_into(std::span<const T> values, Tensor& tensor) {
  const auto bytes = std::as_bytes(values);
  std::copy(bytes.begin(), bytes.end(), tensor.bytes().begin());
}

void store_typed(const Parts& parts, Tensor& tensor) {
  if (tensor.type() == DataType::f32) return copy_into<float>(parts.floats, tensor);
  if (tensor.type() == DataType::f64) return copy_into<double>(parts.doubles, tensor);
  store_integers(tensor.type() == DataType::i64 ? parts.int64s : parts.int32s, tensor);
}

// The number of values that the shape asks for; nothing if it is negative or beyond 64 bits.
std::optional<std::uint64_t> count_of(const Shape& shape) {
  std::uint64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(size), &count)) {
      return std::nullopt;
    }
  }
  const bool fits = count <= std::numeric_limits<std::int64_t>::max() / sizeof(double);
  return fits ? std::optional(count) : std::nullopt;
}

}  // namespace

OnnxTensor read_onnx_tensor(WireReader message) {
  Parts parts = parts_of(message);
  const std::string place = message.file() + ": tensor " + in_quotes(parts.name) + ": ";
  if (parts.is_elsewhere) {
    fail(ErrorCode::bad_file, place, "its data lies in another file, expected all data in this one",
         " (save the model without external data)");
  }
  if (parts.is_segment)
    fail(ErrorCode::bad_file, place, "found a segment, expected a whole tensor");
  const std::optional<DataType> type = data_type_from_onnx(parts.type);
  if (!type) {
    fail(ErrorCode::bad_file, place, "found the data type ", parts.type,
         ", expected numbers (1, 2, 3, 5, 6, 7, 9, 10, 11 or 16)");
  }
  constexpr std::size_t kMostDimensions = 8;
  const std::optional<std::uint64_t> count = count_of(parts.dims);
  if (parts.dims.size() > kMostDimensions || !count) {
    fail(ErrorCode::bad_file, place, "found a shape of ", parts.dims.size(),
         " dimensions that are negative, too many or too large");
  }
  const std::size_t found =
      parts.raw ? parts.raw->size() : typed_count(parts, *type) * size_of(*type);
  if (found != *count * size_of(*type)) {
    fail(ErrorCode::bad_file, place, "found ", found, " bytes of data, expected ",
         *count * size_of(*type), " for ", to_string(*type), " ", to_string(parts.dims));
  }
  OnnxTensor named{std::move(parts.name), Tensor(*type, parts.dims)};
  if (parts.raw) {
    std::copy(parts.raw->begin(), parts.raw->end(), named.tensor.bytes().begin());
  } else {
    store_typed(parts, named.tensor);
  }
  return named;
}

}  // namespace winnow
