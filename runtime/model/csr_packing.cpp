#include "runtime/model/csr_packing.h"

#include <algorithm>

#include "runtime/model/row_padding.h"

namespace winnow {
namespace {

// Where blocks lie in the bytes of values: `vector` values each, byte by byte or as single nibbles.
class BlockLayout {
 public:
  BlockLayout(Encoding encoding, int vector)
      : is_nibble_(encoding == Encoding::codebook4 && vector == 1),
        bytes_(static_cast<std::size_t>(stored_bytes(encoding, vector))) {}

  bool is_zero(std::span<const std::byte> values, std::size_t block) const {
    if (is_nibble_) return nibble(values, block) == std::byte{0};
    const auto bytes = values.subspan(block * bytes_, bytes_);
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
  }

  // Nibbles are copied onto zeros.
  void copy(std::span<const std::byte> from, std::size_t from_block, std::span<std::byte> to,
            std::size_t to_block, std::size_t count) const {
    if (!is_nibble_) {
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(from_block * bytes_), count * bytes_,
                  to.begin() + static_cast<std::ptrdiff_t>(to_block * bytes_));
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t block = to_block + i;
      to[block / 2] |= nibble(from, from_block + i) << (block % 2 * 4);
    }
  }

 private:
  static std::byte nibble(std::span<const std::byte> values, std::size_t block) {
    return values[block / 2] >> (block % 2 * 4) & std::byte{15};
  }

  bool is_nibble_;
  std::size_t bytes_;
};

// Chooses the stored blocks of one row after the other.
class RowPacker {
 public:
  explicit RowPacker(const CsrWeight& weight)
      : weight_(weight),
        length_(static_cast<std::size_t>(weight.row_length)),
        layout_(weight.values.encoding, weight.vector),
        // Code 0 can be left out only where it stands for the value 0.
        can_omit_(weight.values.codebook.empty() || to_float(weight.values.codebook[0]) == 0) {}

  // The blocks of `row`, as positions within it, that the file has to store.
  std::vector<std::uint32_t> stored_blocks(std::size_t row) const {
    std::vector<std::uint32_t> blocks;
    for (std::size_t i = 0; i < length_; ++i) {
      const bool omits = can_omit_ && layout_.is_zero(weight_.values.data, row * length_ + i);
      if (!omits) blocks.push_back(static_cast<std::uint32_t>(i));
    }
    return blocks.size() == length_ || is_recreated_from(row, blocks) ? blocks : all_blocks();
  }

  std::vector<std::uint32_t> all_blocks() const {
    std::vector<std::uint32_t> blocks(length_);
    for (std::size_t i = 0; i < length_; ++i) blocks[i] = static_cast<std::uint32_t>(i);
    return blocks;
  }

  std::uint32_t column(std::size_t row, std::uint32_t block) const {
    return weight_.column[row * length_ + block];
  }

  std::vector<std::byte> values_of(const std::vector<std::vector<std::uint32_t>>& rows,
                                   std::size_t blocks) const {
    const auto count = static_cast<std::int64_t>(blocks) * weight_.vector;
    std::vector<std::byte> values(
        static_cast<std::size_t>(stored_bytes(weight_.values.encoding, count)));
    std::size_t next = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (const std::uint32_t block : rows[row]) {
        layout_.copy(weight_.values.data, row * length_ + block, values, next++, 1);
      }
    }
    return values;
  }

 private:
  bool is_recreated_from(std::size_t row, const std::vector<std::uint32_t>& blocks) const {
    std::vector<std::uint32_t> kept;
    for (const std::uint32_t block : blocks) kept.push_back(column(row, block));
    std::vector<std::uint32_t> padded(length_);
    pad_row(kept, weight_.cols, padded);
    return std::equal(padded.begin(), padded.end(),
                      weight_.column.begin() + static_cast<std::ptrdiff_t>(row * length_));
  }

  const CsrWeight& weight_;
  std::size_t length_;
  BlockLayout layout_;
  bool can_omit_;
};

// Some row must show the row length. The fullest one does so by storing its zero blocks too.
void store_one_row_in_full(const CsrWeight& weight, const RowPacker& packer,
                           std::vector<std::vector<std::uint32_t>>& rows) {
  const auto length = static_cast<std::size_t>(weight.row_length);
  const bool has_full_row = std::any_of(
      rows.begin(), rows.end(), [&](const auto& blocks) { return blocks.size() == length; });
  if (has_full_row) return;
  const auto fullest = std::max_element(weight.kept.begin(), weight.kept.end());
  rows[static_cast<std::size_t>(fullest - weight.kept.begin())] = packer.all_blocks();
}

// Finds the stored columns again in the padded row and copies their blocks there in runs.
void place_blocks(std::span<const std::uint32_t> stored, std::span<const std::uint32_t> padded,
                  const auto& copy_run) {
  std::size_t from = 0;
  std::size_t to = 0;
  while (from < stored.size()) {
    while (padded[to] != stored[from]) ++to;
    std::size_t run = 1;
    while (from + run < stored.size() && padded[to + run] == stored[from + run]) ++run;
    copy_run(from, to, run);
    from += run;
    to += run;
  }
}

// Fills the columns and values of all rows; everything fits.
std::string fill_rows(CsrWeight& weight, std::span<const std::uint32_t> length, RowReader index,
                      std::span<const std::byte> values) {
  const auto row_length = static_cast<std::size_t>(weight.row_length);
  const BlockLayout layout(weight.values.encoding, weight.vector);
  std::vector<std::uint32_t> stored;
  std::size_t from_block = 0;
  for (std::size_t row = 0; row < length.size(); ++row) {
    const auto padded = std::span(weight.column).subspan(row * row_length, row_length);
    stored.resize(length[row]);
    const std::string_view defect = index.read(stored);
    if (!defect.empty()) return "row " + std::to_string(row) + ": " + std::string(defect);
    pad_row(stored, weight.cols, padded);
    place_blocks(stored, padded, [&](std::size_t from, std::size_t to, std::size_t run) {
      layout.copy(values, from_block + from, weight.values.data, row * row_length + to, run);
    });
    from_block += stored.size();
  }
  if (index.rest().empty()) return "";
  return std::to_string(index.rest().size()) + " bytes follow the last row";
}

// The rule that lengths, or the number of bytes of values, break; empty if none.
std::string length_defect(const CsrWeight& weight, std::span<const std::uint32_t> length,
                          std::span<const std::byte> values) {
  std::uint64_t blocks = 0;
  for (const std::uint32_t stored : length) {
    if (stored > weight.row_length) {
      return std::to_string(stored) + " blocks stored in a row of " +
             std::to_string(weight.row_length);
    }
    blocks += stored;
  }
  const auto longest = length.empty() ? 0 : *std::max_element(length.begin(), length.end());
  if (longest != weight.row_length) return "no row stores all blocks of the row length";
  const auto& codebook = weight.values.codebook;
  const bool is_padded = blocks != length.size() * static_cast<std::uint64_t>(weight.row_length);
  if (is_padded && !codebook.empty() && to_float(codebook[0]) != 0) {
    return "rows are padded, but code 0 does not stand for 0";
  }
  const auto count = static_cast<std::int64_t>(blocks) * weight.vector;
  const std::int64_t expected = stored_bytes(weight.values.encoding, count);
  if (static_cast<std::uint64_t>(expected) != values.size()) {
    return std::to_string(values.size()) + " bytes of values, " + std::to_string(blocks) +
           " stored blocks take " + std::to_string(expected);
  }
  const bool has_spare_nibble = weight.values.encoding == Encoding::codebook4 && count % 2 == 1;
  if (has_spare_nibble && (values.back() >> 4) != std::byte{0}) return "the unused nibble is not 0";
  return "";
}

}  // namespace

StoredRows pack_rows(const CsrWeight& weight) {
  const RowPacker packer(weight);
  std::vector<std::vector<std::uint32_t>> rows;
  for (std::size_t row = 0; row < static_cast<std::size_t>(weight.rows); ++row) {
    rows.push_back(packer.stored_blocks(row));
  }
  if (!rows.empty()) store_one_row_in_full(weight, packer, rows);

  StoredRows stored;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    stored.length.push_back(static_cast<std::uint32_t>(rows[row].size()));
    for (const std::uint32_t block : rows[row]) stored.column.push_back(packer.column(row, block));
  }
  stored.values = packer.values_of(rows, stored.column.size());
  return stored;
}

std::string unpack_rows(CsrWeight& weight, std::span<const std::uint32_t> length, RowReader index,
                        std::span<const std::byte> values) {
  std::string defect = length_defect(weight, length, values);
  if (!defect.empty()) return defect;
  const auto blocks = static_cast<std::size_t>(weight.rows * weight.row_length);
  weight.column.resize(blocks);
  weight.values.count = static_cast<std::int64_t>(blocks) * weight.vector;
  weight.values.data.resize(
      static_cast<std::size_t>(stored_bytes(weight.values.encoding, weight.values.count)));
  return fill_rows(weight, length, index, values);
}

}  // namespace winnow
