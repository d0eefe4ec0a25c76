// Where elements of tensors lie in memory: what kernels need that take tensors element by element.
#pragma once

#include <torch/types.h>

namespace winnow {

// Whether both have the same shape and every element at the same place. Strides of dimensions of
// one element, which say nothing, do not count.
bool has_layout_of(const torch::Tensor& tensor, const torch::Tensor& other);

// `tensor`, or a copy of it with the strides of `other`, which has its shape and no gaps.
torch::Tensor laid_out_as(const torch::Tensor& tensor, const torch::Tensor& other);

// All elements as they follow each other in memory: a view of one dimension. Throws Error{internal}
// for a tensor with gaps.
torch::Tensor in_memory_order(const torch::Tensor& tensor);

}  // namespace winnow
