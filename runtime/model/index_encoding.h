// Column numbers of sparse rows as bytes, in the smallest of three forms (docs/model-file.md,
// "index").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace winnow {

// The numbers are those of the file format and never change.
enum class IndexForm : std::uint8_t {
  // One byte per column: its distance from the column before (from -1 for a row's first), 1 to 255.
  // A larger distance is a byte 0, then the column itself as u16 (cols <= 65536) or u32.
  deltas = 1,
  u16 = 2,  // the columns; cols <= 65536
  u32 = 3,
};

// One row's columns, strictly increasing and below `cols`, appended to `out`.
void append_row(std::vector<std::byte>& out, IndexForm form, std::int64_t cols,
                std::span<const std::uint32_t> row);

// Bytes that append_row appends.
std::int64_t row_bytes(IndexForm form, std::int64_t cols, std::span<const std::uint32_t> row);

// The form in which all rows together are smallest; on a tie u16 before deltas before u32.
//
//   row_lengths  [rows]; their sum is column.size()
//   column       rows one after the other
IndexForm smallest_form(std::int64_t cols, std::span<const std::uint32_t> row_lengths,
                        std::span<const std::uint32_t> column);

// Reads rows back from bytes that may be anything.
class RowReader {
 public:
  RowReader(IndexForm form, std::int64_t cols, std::span<const std::byte> bytes)
      : form_(form), cols_(cols), rest_(bytes) {}

  // Fills `row` with the next row.size() columns. Names the first rule that the bytes break; empty
  // if none, and then the columns are strictly increasing and below cols.
  std::string_view read(std::span<std::uint32_t> row);

  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::string_view read_deltas(std::span<std::uint32_t> row);
  template <typename Wide>
  std::string_view read_columns(std::span<std::uint32_t> row);

  IndexForm form_;
  std::int64_t cols_;
  std::span<const std::byte> rest_;
};

}  // namespace winnow
