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

// Calls visit(row, k) for the eight values of a 16 x 16 matrix that a lane holds as the A fragment
// of mma.m16n8k16, in the order of its registers (PTX ISA, "Matrix fragments for mma.m16n8k16"):
// rows lane / 4 and 8 further, columns 2 (lane % 4) and the next one, and those 8 further.
template <typename Visit>
void for_each_held(int lane, Visit visit) {
  const int row = lane / 4, column = lane % 4 * 2;
  for (const int k : {column, column + 8}) {
    for (const int r : {row, row + 8}) {
      visit(r, k);
      visit(r, k + 1);
    }
  }
}

// Writes kFragmentBytes: for each of 32 lanes the eight half floats that it holds. Columns without
// a block have zeros.
void write_fragment(const GatheredGroups& groups, const ColumnBatch& batch, std::byte* to);

}  // namespace winnow
