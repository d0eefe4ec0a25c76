#include "export/tensor_slices.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace winnow {

Tensor without_slices(const Tensor& tensor, std::size_t dimension,
                      const std::vector<bool>& is_removed) {
  const Shape& shape = tensor.shape();
  const auto product = [&](std::size_t from, std::size_t to) {
    return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(from),
                           shape.begin() + static_cast<std::ptrdiff_t>(to), std::int64_t{1},
                           std::multiplies<>());
  };
  Shape smaller = shape;
  smaller[dimension] = std::count(is_removed.begin(), is_removed.end(), false);
  Tensor result(tensor.type(), smaller);
  const auto slice =
      static_cast<std::size_t>(product(dimension + 1, shape.size())) * size_of(tensor.type());
  auto out = result.bytes().begin();
  auto in = tensor.bytes().begin();
  for (std::int64_t outer = product(0, dimension); outer-- > 0;) {
    for (const bool removed : is_removed) {
      if (!removed) out = std::copy_n(in, slice, out);
      in += static_cast<std::ptrdiff_t>(slice);
    }
  }
  return result;
}

}  // namespace winnow
