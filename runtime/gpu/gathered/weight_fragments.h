// Weights of a batch in the order in which a matrix product takes them. Pure host code.
#pragma once

#include <cstddef>

#include "runtime/gpu/gathered/column_batches.h"
#include "runtime/gpu/gathered/gathered_groups.h"

namespace winnow {

// What a column of the weight reads: an input channel at row r, column s of the kernel.
struct Tap {
  std::int64_t channel, r, s;
};
Tap tap_of(std::uint32_t column, const Conv& conv);

// Writes kFragmentBytes: for each of 32 lanes the eight half floats that it holds. Columns without
// a block have zeros.
void write_fragment(const GatheredGroups& groups, const ColumnBatch& batch, std::byte* to);

}  // namespace winnow
