#include "prune/training/tensor_layout.h"

#include <torch/types.h>

#include "runtime/base/error.h"

namespace winnow {

bool has_layout_of(const torch::Tensor& tensor, const torch::Tensor& other) {
  if (tensor.sizes() != other.sizes()) return false;
  for (std::int64_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.size(d) > 1 && tensor.stride(d) != other.stride(d)) return false;
  }
  return true;
}

torch::Tensor laid_out_as(const torch::Tensor& tensor, const torch::Tensor& other) {
  if (has_layout_of(tensor, other)) return tensor;
  return torch::empty_strided(other.sizes(), other.strides(), tensor.options()).copy_(tensor);
}

torch::Tensor in_memory_order(const torch::Tensor& tensor) {
  if (!tensor.is_non_overlapping_and_dense()) {
    fail(ErrorCode::internal, "in_memory_order: a tensor with gaps");
  }
  return tensor.as_strided({tensor.numel()}, {1});
}

}  // namespace winnow
