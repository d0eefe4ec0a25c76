// Cutting slices out of tensors.
#pragma once

#include <vector>

#include "runtime/model/tensor.h"

namespace winnow {

// `tensor` without the indices of dimension `dimension` for which `is_removed` is true.
// Requires is_removed.size() == tensor.shape()[dimension].
Tensor without_slices(const Tensor& tensor, std::size_t dimension,
                      const std::vector<bool>& is_removed);

}  // namespace winnow
