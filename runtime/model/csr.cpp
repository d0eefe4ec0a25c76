#include "runtime/model/csr.h"

#include <algorithm>
#include <limits>

#include "runtime/base/error.h"
#include "runtime/model/row_padding.h"
#include "runtime/model/shape.h"
#include "runtime/model/vector_size.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostColumns = std::numeric_limits<std::uint32_t>::max();

std::int64_t rows_of(std::int64_t channels, int vector) {
  return channels / vector + (channels % vector != 0 ? 1 : 0);
}

template <typename T>
std::span<const T> row_of(const std::vector<T>& items, std::int64_t row, std::int64_t length) {
  return std::span<const T>(items).subspan(static_cast<std::size_t>(row * length),
                                           static_cast<std::size_t>(length));
}

std::vector<std::uint32_t> kept_columns(std::span<const std::uint8_t> mask_row) {
  std::vector<std::uint32_t> columns;
  for (std::size_t c = 0; c < mask_row.size(); ++c) {
    if (mask_row[c]) columns.push_back(static_cast<std::uint32_t>(c));
  }
  return columns;
}

// Calls visit(index of the stored value, channel, column), in storage order.
template <typename Csr, typename Visit>
void for_each_value(const Csr& csr, Visit visit) {
  std::size_t index = 0;
  for (std::int64_t row = 0; row < csr.rows; ++row) {
    for (const std::uint32_t column : row_of(csr.column, row, csr.row_length)) {
      for (int lane = 0; lane < csr.vector; ++lane) {
        visit(index++, row * csr.vector + lane, std::int64_t{column});
      }
    }
  }
}

std::string size_defect(const CsrWeight& w) {
  if (!is_vector_size(w.vector)) {
    return "vector size " + std::to_string(w.vector) + ", expected " + kVectorSizes;
  }
  if (w.channels < 0 || w.cols < 0 || w.cols > kMostColumns) {
    return "size " + to_string({w.channels, w.cols}) + " is out of range";
  }
  if (w.rows != rows_of(w.channels, w.vector)) {
    return std::to_string(w.rows) + " rows, expected " +
           std::to_string(rows_of(w.channels, w.vector));
  }
  if (w.row_length < 0 || w.row_length > w.cols) {
    return "rows of " + std::to_string(w.row_length) + " blocks in " + std::to_string(w.cols) +
           " columns";
  }
  std::int64_t blocks = 0;
  std::int64_t count = 0;
  const bool overflows = __builtin_mul_overflow(w.rows, w.row_length, &blocks) ||
                         __builtin_mul_overflow(blocks, std::int64_t{w.vector}, &count);
  if (overflows || w.column.size() != static_cast<std::uint64_t>(blocks)) {
    return std::to_string(w.column.size()) + " columns stored, expected " + std::to_string(w.rows) +
           " rows of " + std::to_string(w.row_length);
  }
  if (w.kept.size() != static_cast<std::uint64_t>(w.rows)) {
    return std::to_string(w.kept.size()) + " row counts, expected " + std::to_string(w.rows);
  }
  if (w.values.count != count) {
    return std::to_string(w.values.count) + " values, expected " + std::to_string(count);
  }
  const std::size_t scales = w.values.channel_scale.size();
  if (scales == 0 ||
      (scales == static_cast<std::uint64_t>(w.channels) && w.values.lanes == w.vector)) {
    return "";
  }
  return std::to_string(scales) + " channel scales in rows of " + std::to_string(w.values.lanes) +
         " channels, expected " + std::to_string(w.channels) + " in rows of " +
         std::to_string(w.vector);
}

std::string row_defect(const CsrWeight& w, std::int64_t row) {
  const std::string place = "row " + std::to_string(row) + ": ";
  const std::int64_t kept = w.kept[static_cast<std::size_t>(row)];
  if (kept > w.row_length) {
    return place + std::to_string(kept) + " blocks kept of " + std::to_string(w.row_length);
  }
  std::int64_t last = -1;
  for (const std::uint32_t column : row_of(w.column, row, w.row_length)) {
    if (column >= w.cols) {
      return place + "column " + std::to_string(column) + " of " + std::to_string(w.cols);
    }
    if (column <= last) {
      return place + "column " + std::to_string(column) + " follows " + std::to_string(last);
    }
    last = column;
  }
  return "";
}

// Everything but the values. A weight without this defect can be walked safely.
std::string structure_defect(const CsrWeight& w) {
  std::string defect = size_defect(w);
  for (std::int64_t row = 0; defect.empty() && row < w.rows; ++row) defect = row_defect(w, row);
  if (!defect.empty()) return defect;
  const std::uint32_t fullest =
      w.kept.empty() ? 0 : *std::max_element(w.kept.begin(), w.kept.end());
  if (fullest == w.row_length) return "";
  return "rows of " + std::to_string(w.row_length) + " blocks, the fullest keeps " +
         std::to_string(fullest);
}

// Pads are zero and so is what lies beyond the last channel.
std::string zero_defect(const CsrWeight& w) {
  // Row by row: as floats all values may take many times the memory of the weight.
  const auto row_size = static_cast<std::size_t>(w.row_length * w.vector);
  std::vector<float> values(row_size);
  for (std::int64_t row = 0; row < w.rows; ++row) {
    decode_part(w.values, row * w.row_length * w.vector, values);
    std::int64_t filled = 0;
    const std::int64_t channels_left = w.channels - row * w.vector;
    for (std::int64_t i = 0; i < w.row_length; ++i) {
      const auto block = row_of(values, i, w.vector);
      const auto is_set = [](float value) { return value != 0; };
      if (std::any_of(block.begin(), block.end(), is_set)) ++filled;
      for (std::int64_t lane = channels_left; lane < w.vector; ++lane) {
        if (!is_set(block[static_cast<std::size_t>(lane)])) continue;
        return "row " + std::to_string(row) + ": a value beyond the last channel is not 0";
      }
    }
    const std::int64_t kept = w.kept[static_cast<std::size_t>(row)];
    if (filled > kept) {
      return "row " + std::to_string(row) + ": " + std::to_string(filled) +
             " blocks are not 0, but only " + std::to_string(kept) + " are kept";
    }
  }
  return "";
}

void require_mask_size(std::size_t size, std::int64_t channels, std::int64_t cols, int vector) {
  if (!is_vector_size(vector)) {
    fail(ErrorCode::usage, "vector size ", vector, ", expected ", kVectorSizes);
  }
  if (cols > kMostColumns) fail(ErrorCode::usage, "a weight of ", cols, " columns is too large");
  const bool has_weights = element_count({channels, cols}) > 0;  // refuses what is negative
  const std::int64_t blocks = has_weights ? rows_of(channels, vector) * cols : 0;
  if (size == static_cast<std::uint64_t>(blocks)) return;
  fail(ErrorCode::usage, "a mask of ", size, " blocks does not fit a weight of ",
       to_string({channels, cols}), " in vectors of ", vector);
}

void require_structure(const CsrWeight& weight) {
  const std::string defect = structure_defect(weight);
  if (!defect.empty()) fail(ErrorCode::usage, "sparse weight: ", defect);
}

}  // namespace

CsrPattern build_csr_pattern(std::span<const std::uint8_t> mask, std::int64_t channels,
                             std::int64_t cols, int vector) {
  require_mask_size(mask.size(), channels, cols, vector);
  CsrPattern pattern{channels, cols, vector, rows_of(channels, vector), 0, {}, {}};
  const auto mask_row = [&](std::int64_t row) {
    return mask.subspan(static_cast<std::size_t>(row * cols), static_cast<std::size_t>(cols));
  };
  for (std::int64_t row = 0; row < pattern.rows; ++row) {
    const auto blocks = mask_row(row);
    const auto kept =
        std::count_if(blocks.begin(), blocks.end(), [](auto bit) { return bit != 0; });
    pattern.kept.push_back(static_cast<std::uint32_t>(kept));
    pattern.row_length = std::max<std::int64_t>(pattern.row_length, kept);
  }
  const auto length = static_cast<std::size_t>(pattern.row_length);
  pattern.column.resize(static_cast<std::size_t>(pattern.rows) * length);
  for (std::int64_t row = 0; row < pattern.rows; ++row) {
    const auto begin = pattern.column.begin() + row * pattern.row_length;
    pad_row(kept_columns(mask_row(row)), cols, {begin, length});
  }
  return pattern;
}

CsrWeight csr_weight(CsrPattern pattern, Values values) {
  return {.channels = pattern.channels,
          .cols = pattern.cols,
          .vector = pattern.vector,
          .rows = pattern.rows,
          .row_length = pattern.row_length,
          .column = std::move(pattern.column),
          .kept = std::move(pattern.kept),
          .values = std::move(values)};
}

std::vector<std::int64_t> dense_positions(const CsrPattern& pattern) {
  std::vector<std::int64_t> positions(pattern.column.size() *
                                      static_cast<std::size_t>(pattern.vector));
  for_each_value(pattern, [&](std::size_t i, std::int64_t channel, std::int64_t column) {
    positions[i] = channel < pattern.channels ? channel * pattern.cols + column : -1;
  });
  return positions;
}

std::vector<float> to_dense(const CsrWeight& weight) {
  require_structure(weight);
  const std::vector<float> values = decode(weight.values);
  std::vector<float> dense(static_cast<std::size_t>(element_count({weight.channels, weight.cols})));
  for_each_value(weight, [&](std::size_t i, std::int64_t channel, std::int64_t column) {
    if (channel >= weight.channels) return;
    dense[static_cast<std::size_t>(channel * weight.cols + column)] = values[i];
  });
  return dense;
}

std::int64_t nonzero_count(const CsrWeight& weight) {
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < weight.rows; ++row) {
    const std::int64_t lanes =
        std::min<std::int64_t>(weight.vector, weight.channels - row * weight.vector);
    count += lanes * weight.kept[static_cast<std::size_t>(row)];
  }
  return count;
}

std::string find_defect(const CsrWeight& weight) {
  std::string defect = structure_defect(weight);
  if (defect.empty()) defect = find_defect(weight.values);
  return defect.empty() ? zero_defect(weight) : defect;
}

}  // namespace winnow
