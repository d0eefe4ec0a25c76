#include "runtime/model/tensor_slices.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace winnow {

Tensor taken_slices(const Tensor& tensor, std::size_t dimension,
                    std::span<const std::int64_t> indices) {
  const Shape& shape = tensor.shape();
  const auto product = [&](std::size_t from, std::size_t to) {
    return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(from),
                           shape.begin() + static_cast<std::ptrdiff_t>(to), std::int64_t{1},
                           std::multiplies<>());
  };
  Shape taken = shape;
  taken[dimension] = std::ssize(indices);
  Tensor result(tensor.type(), taken);
  const auto slice = static_cast<std::ptrdiff_t>(product(dimension + 1, shape.size())) *
                     static_cast<std::ptrdiff_t>(size_of(tensor.type()));
  auto out = result.bytes().begin();
  auto in = tensor.bytes().begin();
  for (std::int64_t outer = product(0, dimension); outer-- > 0;) {
    for (const std::int64_t index : indices) out = std::copy_n(in + index * slice, slice, out);
    in += shape[dimension] * slice;
  }
  return result;
}

Tensor without_slices(const Tensor& tensor, std::size_t dimension,
                      const std::vector<bool>& is_removed) {
  std::vector<std::int64_t> left;
  for (std::size_t i = 0; i < is_removed.size(); ++i) {
    if (!is_removed[i]) left.push_back(static_cast<std::int64_t>(i));
  }
  return taken_slices(tensor, dimension, left);
}

}  // namespace winnow
