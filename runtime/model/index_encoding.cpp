#include "runtime/model/index_encoding.h"

#include "runtime/model/little_endian.h"

namespace winnow {
namespace {

constexpr std::int64_t kColsOfU16 = 65536;
constexpr std::int64_t kLargestDelta = 255;
constexpr std::byte kEscape{0};

constexpr std::string_view kCutShort = "the index is cut short";
constexpr std::string_view kOutOfRange = "a column is out of range";
constexpr std::string_view kNotIncreasing = "columns do not increase within a row";
constexpr std::string_view kNeedlessEscape = "an escape stands where a delta fits";

std::size_t wide_bytes(std::int64_t cols) {
  return cols <= kColsOfU16 ? 2 : 4;
}

void append_wide(std::vector<std::byte>& out, std::size_t bytes, std::uint32_t column) {
  if (bytes == 2) {
    append(out, static_cast<std::uint16_t>(column));
  } else {
    append(out, column);
  }
}

std::uint32_t load_wide(std::size_t bytes, const std::byte* at) {
  return bytes == 2 ? load<std::uint16_t>(at) : load<std::uint32_t>(at);
}

}  // namespace

void append_row(std::vector<std::byte>& out, IndexForm form, std::int64_t cols,
                std::span<const std::uint32_t> row) {
  const std::size_t wide = form == IndexForm::u32 ? 4 : wide_bytes(cols);
  std::int64_t previous = -1;
  for (const std::uint32_t column : row) {
    const std::int64_t delta = column - previous;
    previous = column;
    if (form == IndexForm::deltas && delta <= kLargestDelta) {
      out.push_back(static_cast<std::byte>(delta));
      continue;
    }
    if (form == IndexForm::deltas) out.push_back(kEscape);
    append_wide(out, wide, column);
  }
}

std::int64_t row_bytes(IndexForm form, std::int64_t cols, std::span<const std::uint32_t> row) {
  const auto blocks = static_cast<std::int64_t>(row.size());
  if (form == IndexForm::u16) return 2 * blocks;
  if (form == IndexForm::u32) return 4 * blocks;
  std::int64_t escapes = 0;
  std::int64_t previous = -1;
  for (const std::uint32_t column : row) {
    escapes += column - previous > kLargestDelta;
    previous = column;
  }
  return blocks + escapes * static_cast<std::int64_t>(wide_bytes(cols));
}

IndexForm smallest_form(std::int64_t cols, std::span<const std::uint32_t> row_lengths,
                        std::span<const std::uint32_t> column) {
  std::int64_t delta_bytes = 0;
  std::size_t at = 0;
  for (const std::uint32_t length : row_lengths) {
    delta_bytes += row_bytes(IndexForm::deltas, cols, column.subspan(at, length));
    at += length;
  }
  const auto blocks = static_cast<std::int64_t>(column.size());
  const bool fits_u16 = cols <= kColsOfU16;
  if (fits_u16 && 2 * blocks <= delta_bytes) return IndexForm::u16;
  return delta_bytes <= 4 * blocks ? IndexForm::deltas : IndexForm::u32;
}

std::string_view RowReader::read(std::span<std::uint32_t> row) {
  switch (form_) {
    case IndexForm::deltas:
      return read_deltas(row);
    case IndexForm::u16:
      return read_columns<std::uint16_t>(row);
    case IndexForm::u32:
      return read_columns<std::uint32_t>(row);
  }
  return "the index form is unknown";
}

template <typename Wide>
std::string_view RowReader::read_columns(std::span<std::uint32_t> row) {
  if (rest_.size() / sizeof(Wide) < row.size()) return kCutShort;
  bool increases = true;
  std::int64_t previous = -1;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::uint32_t column = load<Wide>(rest_.data() + i * sizeof(Wide));
    increases = increases && column > previous;
    row[i] = column;
    previous = column;
  }
  if (!increases) return kNotIncreasing;
  if (previous >= cols_) return kOutOfRange;
  rest_ = rest_.subspan(row.size() * sizeof(Wide));
  return "";
}

std::string_view RowReader::read_deltas(std::span<std::uint32_t> row) {
  const std::size_t wide = wide_bytes(cols_);
  std::size_t at = 0;
  std::int64_t previous = -1;
  for (std::uint32_t& column : row) {
    if (at >= rest_.size()) return kCutShort;
    std::int64_t next = previous + std::to_integer<std::int64_t>(rest_[at]);
    if (rest_[at++] == kEscape) {
      if (rest_.size() - at < wide) return kCutShort;
      next = load_wide(wide, rest_.data() + at);
      at += wide;
      if (next <= previous) return kNotIncreasing;
      if (next - previous <= kLargestDelta) return kNeedlessEscape;
    }
    if (next >= cols_) return kOutOfRange;
    previous = next;
    column = static_cast<std::uint32_t>(next);
  }
  rest_ = rest_.subspan(at);
  return "";
}

}  // namespace winnow
