#include "prune/training/tensor_bridge.h"

#include <cstring>

#include "runtime/base/error.h"

namespace winnow {
namespace {

torch::ScalarType torch_type(DataType type) {
  switch (type) {
    case DataType::f64:
      return torch::kDouble;
    case DataType::f32:
      return torch::kFloat;
    case DataType::f16:
      return torch::kHalf;
    case DataType::bf16:
      return torch::kBFloat16;
    case DataType::i64:
      return torch::kLong;
    case DataType::i32:
      return torch::kInt;
    case DataType::i16:
      return torch::kShort;
    case DataType::i8:
      return torch::kChar;
    case DataType::u8:
      return torch::kByte;
    case DataType::boolean:
      return torch::kBool;
  }
  fail(ErrorCode::internal, "torch_type: unknown element type");
}

DataType host_type(torch::ScalarType type) {
  for (const DataType candidate :
       {DataType::f64, DataType::f32, DataType::f16, DataType::bf16, DataType::i64, DataType::i32,
        DataType::i16, DataType::i8, DataType::u8, DataType::boolean}) {
    if (torch_type(candidate) == type) return candidate;
  }
  fail(ErrorCode::usage, "a tensor of type ", torch::toString(type), " has no host form");
}

}  // namespace

torch::Tensor to_torch(const Tensor& tensor, const torch::Device& device) {
  const torch::Tensor copy = torch::empty(tensor.shape(), torch_type(tensor.type()));
  const auto bytes = tensor.bytes();
  if (!bytes.empty()) std::memcpy(copy.data_ptr(), bytes.data(), bytes.size());
  return copy.to(device);
}

Tensor to_host(const torch::Tensor& tensor) {
  const torch::Tensor source = tensor.detach().to(torch::kCPU).contiguous();
  Tensor copy(host_type(source.scalar_type()), source.sizes().vec());
  const auto bytes = copy.bytes();
  if (!bytes.empty()) std::memcpy(bytes.data(), source.data_ptr(), bytes.size());
  return copy;
}

}  // namespace winnow
