// Eqs 2 to 4 of paper 003 in plain loops: which blocks of a layer a mask keeps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prune/evolution/trainee/trainee.h"

namespace winnow {

// How many of `blocks` a mask of this sparsity keeps: round((1 - sparsity) blocks), halves up, at
// least 1 of a layer that has any. The one definition; the Torch masks use it too.
std::int64_t kept_blocks(std::int64_t blocks, double sparsity);

// The same of a layer: so many of each of its balanced rows.
std::int64_t kept_blocks(const PrunableLayer& layer, double sparsity);

// A weight tensor [channels, inputs], where inputs stands for all other dimensions, with masks of
// `vector` neighbouring channels. Block g * inputs + j covers weights (g * vector + i, j), i from 0
// up to vector, existing channels only. vector = 1 is an element mask: block = index of the weight.
struct BlockLayout {
  std::int64_t channels = 0;
  std::int64_t inputs = 0;
  std::int64_t vector = 1;

  std::int64_t groups() const { return channels / vector + (channels % vector != 0 ? 1 : 0); }
  std::int64_t blocks() const { return groups() * inputs; }
  std::int64_t weights() const { return channels * inputs; }
};

// Eq 2, with both factors made comparable:
//   alpha |grad| / mean |grad|  +  (1 - alpha) |w| / mean |w|
// Both means are over the weights that are not 0, so that alpha means the same at all densities.
// With pruned ones counted the mean of |w| would fall with density. So would that of |grad|: of a
// very sparse layer most weights lie between channels that are always 0 and have no gradient, and
// the few gradients left would outweigh all magnitudes at once. If none of the weights that are
// not 0 has a gradient, the mean of |grad| is over all. A mean of 0 makes its term 0. The
// importance of a block is the mean of its weights'.
//
//   weights, gradients  [channels, inputs]; gradients may be empty: they count as 0
//   returns             [blocks]
//
// Throws Error{usage} if sizes, vector or alpha (in [0, 1]) are wrong.
std::vector<float> block_importance(std::span<const float> weights,
                                    std::span<const float> gradients, const BlockLayout& layout,
                                    double alpha);

// Eq 3: 1 for the kept_blocks() most important blocks, 0 for the others. Of equals the lower index
// stays. A NaN ranks last.
std::vector<std::uint8_t> top_blocks(std::span<const float> importance, double sparsity);

// Eq 3 row by row: importance is [rows, inputs], and every row keeps its kept_blocks(inputs) most
// important blocks, so that all rows of the sparse weight are equally long.
// Throws Error{usage} unless `rows` divides the number of blocks.
std::vector<std::uint8_t> top_blocks_of_rows(std::span<const float> importance, std::int64_t rows,
                                             double sparsity);

// Eq 4: w = w * mask, in place.
void apply_mask(std::span<float> weights, std::span<const std::uint8_t> block_mask,
                const BlockLayout& layout);

// What changed between two masks of one layer.
Migration count_migration(std::span<const std::uint8_t> before, std::span<const std::uint8_t> after,
                          const BlockLayout& layout);

}  // namespace winnow
