#include "runtime/challenge/files/text/sparse_entries.h"

#include <algorithm>
#include <utility>

namespace winnow::challenge {
namespace {

bool is_in_order(const SparseEntries& entries) {
  for (std::size_t k = 1; k < entries.row.size(); ++k) {
    const std::uint32_t before = entries.row[k - 1], row = entries.row[k];
    if (row < before || (row == before && entries.column[k] <= entries.column[k - 1])) return false;
  }
  return true;
}

std::vector<std::uint64_t> row_bounds(const std::vector<std::uint32_t>& row, std::uint32_t rows) {
  std::vector<std::uint64_t> begin(std::size_t{rows} + 1);
  for (const std::uint32_t r : row) ++begin[r + std::size_t{1}];
  for (std::size_t r = 0; r < rows; ++r) begin[r + 1] += begin[r];
  return begin;
}

// The entries' numbers by row, in each row by column.
std::vector<std::uint64_t> sorted_numbers(const SparseEntries& entries,
                                          const std::vector<std::uint64_t>& begin) {
  std::vector<std::uint64_t> next(begin.begin(), begin.end() - 1);
  std::vector<std::uint64_t> numbers(entries.row.size());
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[next[entries.row[k]]++] = k;
  const auto by_column = [&](std::uint64_t a, std::uint64_t b) {
    return entries.column[a] < entries.column[b];
  };
  for (std::size_t r = 0; r + 1 < begin.size(); ++r) {
    const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(begin[r]);
    const auto last = numbers.begin() + static_cast<std::ptrdiff_t>(begin[r + 1]);
    if (!std::is_sorted(first, last, by_column)) std::sort(first, last, by_column);
  }
  return numbers;
}

template <typename T>
std::vector<T> gathered(const std::vector<T>& values, const std::vector<std::uint64_t>& numbers) {
  std::vector<T> result;
  if (values.empty()) return result;
  result.reserve(numbers.size());
  for (const std::uint64_t k : numbers) result.push_back(values[k]);
  return result;
}

}  // namespace

SparseRows into_rows(SparseEntries entries, std::uint32_t rows,
                     const std::function<void(std::uint32_t, std::uint32_t)>& refuse) {
  SparseRows result;
  result.begin = row_bounds(entries.row, rows);
  if (is_in_order(entries)) {
    result.column = std::move(entries.column);
    result.value = std::move(entries.value);
    return result;
  }
  const std::vector<std::uint64_t> numbers = sorted_numbers(entries, result.begin);
  result.column = gathered(entries.column, numbers);
  result.value = gathered(entries.value, numbers);
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint64_t k = result.begin[r] + 1; k < result.begin[r + 1]; ++k) {
      if (result.column[k - 1] == result.column[k]) refuse(r, result.column[k]);
    }
  }
  return result;
}

}  // namespace winnow::challenge
