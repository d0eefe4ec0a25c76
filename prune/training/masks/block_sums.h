// Sums over the blocks of a layer: what importances and curves are made of. Rows are output
// channels, a block has a value of `vector` of them; the last blocks may have fewer.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace winnow {

// |values| [K, ...] in double, row-major as [K, inputs].
torch::Tensor row_magnitudes(const torch::Tensor& values);

// [K, n] -> [ceil(K / vector), n].
torch::Tensor group_sums(const torch::Tensor& rows, std::int64_t vector);

// The same over the rows that a block has.
torch::Tensor group_means(const torch::Tensor& rows, std::int64_t vector);

}  // namespace winnow
