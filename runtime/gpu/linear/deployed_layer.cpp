#include "runtime/gpu/linear/deployed_layer.h"

#include <limits>

#include "runtime/base/error.h"

namespace winnow {

SparseLayer sparse_layer(const BlockCsr& weight, std::span<const float> bias) {
  constexpr auto kMost = static_cast<std::int64_t>(std::numeric_limits<std::uint32_t>::max());
  if (weight.cols > kMost || weight.blocks() * weight.vector > kMost) {
    fail(ErrorCode::usage, "a linear layer of ", weight.cols, " inputs and ",
         weight.blocks() * weight.vector, " weights does not fit 32 bits");
  }
  BlockCsr rows = split_blocks(weight, 1);
  return {.inputs = static_cast<std::uint32_t>(weight.cols),
          .row_begin = {rows.begin.begin(), rows.begin.end()},
          .input = std::move(rows.column),
          .value = std::move(rows.value),
          .bias = {bias.begin(), bias.end()}};
}

}  // namespace winnow
