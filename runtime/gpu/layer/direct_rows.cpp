#include "runtime/gpu/layer/direct_rows.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "runtime/base/error.h"

namespace winnow {
namespace {

// One row of blocks under construction.
struct Block {
  std::uint32_t column = 0;
  const float* values = nullptr;  // [count]
  int count = 0;
};

bool is_zero(const Block& block) {
  return std::all_of(block.values, block.values + block.count, [](float v) { return v == 0.0f; });
}

void append_row(DirectRows& rows, std::span<const Block> blocks) {
  for (const Block& block : blocks) {
    if (is_zero(block)) continue;
    rows.column.push_back(block.column);
    rows.values.insert(rows.values.end(), block.values, block.values + block.count);
    rows.values.resize(rows.column.size() * static_cast<std::size_t>(rows.vector), 0.0f);
  }
  while (rows.column.size() % kDirectUnroll != 0) rows.column.push_back(rows.column.back());
  rows.values.resize(rows.column.size() * static_cast<std::size_t>(rows.vector), 0.0f);
  if (rows.column.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    fail(ErrorCode::usage, "a sparse weight has ", rows.column.size(),
         " blocks, more than 31 bits");
  }
  rows.begin.push_back(static_cast<std::int32_t>(rows.column.size()));
}

DirectRows empty_rows(std::int64_t channels, int vector) {
  DirectRows rows;
  rows.channels = channels;
  rows.vector = vector;
  rows.rows = (channels + vector - 1) / vector;
  rows.begin.push_back(0);
  return rows;
}

void sort_by_length(DirectRows& rows) {
  rows.order.resize(static_cast<std::size_t>(rows.rows));
  std::iota(rows.order.begin(), rows.order.end(), 0);
  const auto length = [&](std::int32_t row) {
    const auto r = static_cast<std::size_t>(row);
    return rows.begin[r + 1] - rows.begin[r];
  };
  std::stable_sort(rows.order.begin(), rows.order.end(),
                   [&](std::int32_t a, std::int32_t b) { return length(a) > length(b); });
}

int dense_vector(std::int64_t channels, std::int64_t groups) {
  const std::int64_t per_group = channels / std::max<std::int64_t>(groups, 1);
  for (const int vector : {16, 8}) {
    if ((groups == 1 && channels >= vector) || per_group % vector == 0) return vector;
  }
  return 1;
}

}  // namespace

DirectRows direct_rows(const CsrWeight& weight, std::int64_t groups) {
  const std::vector<float> stored = decode(weight.values);
  const bool spans_groups = groups > 1 && (weight.channels / groups) % weight.vector != 0;
  const int segments = spans_groups ? weight.vector : 1;
  DirectRows rows = empty_rows(weight.channels, weight.vector / segments);
  std::vector<Block> blocks;
  for (std::int64_t row = 0; row < weight.rows; ++row) {
    for (int segment = 0; segment < segments; ++segment) {
      if (row * weight.vector + segment * rows.vector >= weight.channels) break;
      blocks.clear();
      for (std::int64_t u = row * weight.row_length; u < (row + 1) * weight.row_length; ++u) {
        blocks.push_back({.column = weight.column[static_cast<std::size_t>(u)],
                          .values = stored.data() + u * weight.vector + segment * rows.vector,
                          .count = rows.vector});
      }
      append_row(rows, blocks);
    }
  }
  sort_by_length(rows);
  return rows;
}

DirectRows direct_rows(std::span<const float> weight, std::int64_t channels, std::int64_t groups) {
  const std::int64_t cols = channels > 0 ? static_cast<std::int64_t>(weight.size()) / channels : 0;
  DirectRows rows = empty_rows(channels, dense_vector(channels, groups));
  std::vector<float> columns(static_cast<std::size_t>(cols * rows.vector));
  std::vector<Block> blocks(static_cast<std::size_t>(cols));
  for (std::int64_t row = 0; row < rows.rows; ++row) {
    const std::int64_t first = row * rows.vector;
    const std::int64_t count = std::min<std::int64_t>(rows.vector, channels - first);
    for (std::int64_t c = 0; c < cols; ++c) {
      float* values = columns.data() + c * rows.vector;
      for (std::int64_t v = 0; v < rows.vector; ++v) {
        const auto at = static_cast<std::size_t>((first + v) * cols + c);
        values[v] = v < count ? weight[at] : 0.0f;
      }
      blocks[static_cast<std::size_t>(c)] = {static_cast<std::uint32_t>(c), values, rows.vector};
    }
    append_row(rows, blocks);
  }
  sort_by_length(rows);
  return rows;
}

std::vector<float> values_by_segment(const DirectRows& rows, int thread_channels) {
  std::vector<float> values;
  values.reserve(rows.values.size());
  for (std::int64_t row = 0; row < rows.rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    for (int segment = 0; segment < rows.vector / thread_channels; ++segment) {
      for (std::int64_t u = rows.begin[r]; u < rows.begin[r + 1]; ++u) {
        const float* block = rows.values.data() + u * rows.vector + segment * thread_channels;
        values.insert(values.end(), block, block + thread_channels);
      }
    }
  }
  return values;
}

std::vector<std::int32_t> direct_offsets(const DirectRows& rows, const Conv& conv,
                                         const ActivationStrides& strides) {
  std::vector<std::int32_t> offsets;
  offsets.reserve(rows.column.size());
  for (const std::uint32_t column : rows.column) {
    const std::int64_t s = column % conv.kernel[1];
    const std::int64_t r = column / conv.kernel[1] % conv.kernel[0];
    const std::int64_t c = column / conv.kernel[1] / conv.kernel[0];
    const std::int64_t offset = c * strides.channel + r * conv.dilation[0] * strides.row +
                                s * conv.dilation[1] * strides.column;
    if (offset > std::numeric_limits<std::int32_t>::max()) {
      fail(ErrorCode::device, "an image is too large for the direct convolution: offset ", offset);
    }
    offsets.push_back(static_cast<std::int32_t>(offset));
  }
  return offsets;
}

}  // namespace winnow
