// Eqs 2 to 4 of paper 003 on whole tensors: importance.h as LibTorch runs it on a device.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "prune/evolution/trainee/magnitude_curve.h"

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

// A layer's weight [K, ...], in blocks of `vector` output channels.
struct WeightBlocks {
  torch::Tensor weight;
  std::int64_t vector = 1;
};

// Of layers of so many blocks, at curve_ranks(). `found` gives, of the ranks of all layers, one
// layer after the other, f64 [2, ranks] on any device: magnitudes, and sums of squares up to them.
std::vector<MagnitudeCurve> curves_from(
    std::span<const std::int64_t> blocks,
    const std::function<torch::Tensor(std::span<const MagnitudeCurve>)>& found);

// Of the blocks of each layer, at curve_ranks(). All layers are on one device; waits for it twice.
std::vector<MagnitudeCurve> magnitude_curves(std::span<const WeightBlocks> layers);

// The same blocks in the same order, but `squares` sums the squares of the weights themselves, so
// that blocks of different sizes compare.
std::vector<MagnitudeCurve> weight_curves(std::span<const WeightBlocks> layers);

// The mask of single weights, 0 or 1 in the weight's type and with its strides: what eq 4
// multiplies by.
torch::Tensor weight_mask(const torch::Tensor& block_mask, const torch::Tensor& weight,
                          std::int64_t vector);

}  // namespace winnow
