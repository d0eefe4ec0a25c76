// Slices of tensors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/model/tensor.h"

namespace winnow {

// The slices of dimension `dimension` at these indices, in this order; an index may come again or
// not at all. Requires indices within tensor.shape()[dimension].
Tensor taken_slices(const Tensor& tensor, std::size_t dimension,
                    std::span<const std::int64_t> indices);

// `tensor` without the indices of dimension `dimension` for which `is_removed` is true.
// Requires is_removed.size() == tensor.shape()[dimension].
Tensor without_slices(const Tensor& tensor, std::size_t dimension,
                      const std::vector<bool>& is_removed);

}  // namespace winnow
