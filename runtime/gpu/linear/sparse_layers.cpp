#include "runtime/gpu/linear/sparse_layers.h"

#include <limits>

#include "runtime/base/error.h"

namespace winnow {

SparseLayer sparse_layer(const CsrWeight& weight, std::span<const float> bias) {
  constexpr auto kMost = static_cast<std::int64_t>(std::numeric_limits<std::uint32_t>::max());
  if (weight.cols > kMost || weight.rows * weight.row_length * weight.vector > kMost) {
    fail(ErrorCode::usage, "a linear layer of ", weight.cols, " inputs and ",
         weight.rows * weight.row_length * weight.vector, " weights does not fit 32 bits");
  }
  const std::vector<float> values = decode(weight.values);
  SparseLayer layer{.inputs = static_cast<std::uint32_t>(weight.cols),
                    .row_begin = {0},
                    .input = {},
                    .value = {},
                    .bias = {bias.begin(), bias.end()}};
  for (std::int64_t output = 0; output < weight.channels; ++output) {
    const std::int64_t row = output / weight.vector, lane = output % weight.vector;
    for (std::int64_t u = row * weight.row_length; u < (row + 1) * weight.row_length; ++u) {
      const float value = values[static_cast<std::size_t>(u * weight.vector + lane)];
      if (value == 0) continue;
      layer.input.push_back(weight.column[static_cast<std::size_t>(u)]);
      layer.value.push_back(value);
    }
    layer.row_begin.push_back(static_cast<std::uint32_t>(layer.input.size()));
  }
  return layer;
}

}  // namespace winnow
