// Eqs 2 to 4 of paper 003 on whole tensors: importance.h as LibTorch runs it on a device.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace winnow {

// Weights are [K, ...], block masks [ceil(K / vector), ...] as in Model. Masks are u8 and
// row-major.

// [ceil(K / vector), ...] of weights [K, ...].
std::vector<std::int64_t> block_mask_shape(const torch::Tensor& weight, std::int64_t vector);

// Eq 2: block_importance() of importance.h, row-major. `gradient` has the weight's shape or is
// undefined: it then counts as 0.
torch::Tensor block_importance(const torch::Tensor& weight, const torch::Tensor& gradient,
                               std::int64_t vector, double alpha);

// Mean |w| of each block, row-major: eq 2 with alpha 0, up to a factor that is one for all blocks.
// Of single weights it is |w|, and no doubles are made of them.
torch::Tensor block_magnitudes(const torch::Tensor& weight, std::int64_t vector);

// Eq 3: top_blocks() of importance.h, on the device of `importance` and without waiting for it.
// Of equals the lower index stays.
torch::Tensor top_blocks(const torch::Tensor& importance, double sparsity);

// The same row by row: top_blocks_of_rows() of importance.h, a row being an index of the first
// dimension.
torch::Tensor top_blocks_of_rows(const torch::Tensor& importance, double sparsity);

// The mask of single weights, 0 or 1 in the weight's type and with its strides: what eq 4
// multiplies by.
torch::Tensor weight_mask(const torch::Tensor& block_mask, const torch::Tensor& weight,
                          std::int64_t vector);

}  // namespace winnow
