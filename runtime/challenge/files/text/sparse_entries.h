// Entries of a sparse matrix in any order, brought into rows.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace winnow::challenge {

struct SparseEntries {
  std::vector<std::uint32_t> row;     // [entries]
  std::vector<std::uint32_t> column;  // [entries]
  std::vector<float> value;           // [entries], or empty where values do not matter
};

struct SparseRows {
  std::vector<std::uint64_t> begin;   // [rows + 1]
  std::vector<std::uint32_t> column;  // [entries], ascending within a row
  std::vector<float> value;           // [entries], or empty
};

// Sorts entries whose rows are below `rows` by row and column. Calls refuse(row, column), which
// must throw, if two entries have the same place. Linear in time where rows come in order of
// columns; entries that are in order already are not copied.
SparseRows into_rows(SparseEntries entries, std::uint32_t rows,
                     const std::function<void(std::uint32_t, std::uint32_t)>& refuse);

}  // namespace winnow::challenge
