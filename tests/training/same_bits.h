#pragma once

#include <torch/types.h>

namespace winnow {

// Of tensors of 2 or 4 bytes an element: -0 and 0 differ, and equal NaNs do not.
inline bool has_same_bits(const torch::Tensor& a, const torch::Tensor& b) {
  const torch::Dtype words = a.element_size() == 4 ? torch::kInt32 : torch::kInt16;
  return a.dtype() == b.dtype() && torch::equal(a.detach().view(words), b.detach().view(words));
}

}  // namespace winnow
