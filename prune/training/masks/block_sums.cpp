#include "prune/training/masks/block_sums.h"

#include <torch/nn/functional/padding.h>
#include <torch/types.h>

#include "runtime/base/divided_up.h"

namespace winnow {

namespace functional = torch::nn::functional;

torch::Tensor row_magnitudes(const torch::Tensor& values) {
  return values.detach().contiguous().flatten(1).to(torch::kDouble).abs();
}

torch::Tensor group_sums(const torch::Tensor& rows, std::int64_t vector) {
  const std::int64_t groups = divided_up(rows.size(0), vector);
  const std::int64_t missing = groups * vector - rows.size(0);
  const torch::Tensor padded =
      functional::pad(rows, functional::PadFuncOptions({0, 0, 0, missing}));
  return padded.view({groups, vector, rows.size(1)}).sum(1);
}

torch::Tensor group_means(const torch::Tensor& rows, std::int64_t vector) {
  if (vector == 1) return rows;
  const torch::Tensor sums = group_sums(rows, vector);
  const std::int64_t groups = sums.size(0), missing = groups * vector - rows.size(0);
  torch::Tensor counts = torch::full({groups, 1}, static_cast<double>(vector), rows.options());
  counts[groups - 1].fill_(static_cast<double>(vector - missing));
  return sums / counts;
}

}  // namespace winnow
