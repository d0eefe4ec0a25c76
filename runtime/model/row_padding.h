// The padding rule of sparse rows, for one row at a time.
#pragma once

#include <cstdint>
#include <span>

namespace winnow {

// The columns that build_csr_pattern gives a row: all of `kept` and, as pads, the free columns with
// the smallest distance to the nearest kept one, lower columns first on a tie. A row that keeps
// nothing gets the columns from 0.
//
//   kept  strictly increasing, below cols
//   row   [row length] filled in rising order; kept.size() <= row.size() <= cols
//
// Takes time in proportion to row.size(), whatever cols is.
void pad_row(std::span<const std::uint32_t> kept, std::int64_t cols, std::span<std::uint32_t> row);

}  // namespace winnow
