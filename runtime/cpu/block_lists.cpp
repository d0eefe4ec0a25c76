#include "runtime/cpu/block_lists.h"

#include <algorithm>
#include <limits>

#include "runtime/base/error.h"

namespace winnow {
namespace {

std::int32_t checked_offset(std::int64_t offset) {
  if (offset < 0 || offset > std::numeric_limits<std::int32_t>::max()) {
    fail(ErrorCode::usage, "a sample is too large for the CPU's sparse kernels: offset ", offset);
  }
  return static_cast<std::int32_t>(offset);
}

// Appends one row's entries whose channel (within its group) is below `channel_end`; `next` walks
// the row from chunk to chunk.
struct RowWriter {
  const BlockCsr& blocks;
  const ConvShape& shape;
  const OffsetRule& rule;
  const TapWindow& taps;
  BlockLists& lists;

  void append(std::int64_t row, std::int64_t& next, std::int64_t channel_end) const {
    const std::int64_t area = shape.kernel[0] * shape.kernel[1];
    const std::int64_t group =
        row * blocks.vector / std::max<std::int64_t>(shape.group_outputs(), 1);
    for (; next < blocks.begin[row + 1]; ++next) {
      const std::int64_t c = blocks.column[next] / area, tap = blocks.column[next] % area;
      if (c >= channel_end) break;
      const std::int64_t r = tap / shape.kernel[1], s = tap % shape.kernel[1];
      if (r < taps.first_row || r >= taps.last_row) continue;
      if (s < taps.first_col || s >= taps.last_col) continue;
      lists.offset.push_back(checked_offset(rule(group * shape.group_channels() + c, r, s)));
      const float* block = blocks.value.data() + next * blocks.vector;
      lists.value.insert(lists.value.end(), block, block + blocks.vector);
    }
  }
};

}  // namespace

TapWindow all_taps(const ConvShape& shape) {
  return {0, shape.kernel[0], 0, shape.kernel[1]};
}

std::int64_t BlockLists::entries(std::int64_t first_block_row, std::int64_t last_block_row) const {
  std::int64_t sum = 0;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    sum += begin[chunk * block_rows + last_block_row] - begin[chunk * block_rows + first_block_row];
  }
  return sum;
}

BlockLists make_block_lists(const BlockCsr& blocks, const ConvShape& shape, const OffsetRule& rule,
                            const ListOptions& options) {
  const std::int64_t channels = shape.group_channels();
  const std::int64_t chunk = options.chunk_channels == 0
                                 ? std::max<std::int64_t>(channels, 1)
                                 : std::min(options.chunk_channels, channels);
  BlockLists lists;
  lists.vector = blocks.vector;
  lists.block_rows = blocks.rows();
  lists.chunks = std::max<std::int64_t>(1, (channels + chunk - 1) / chunk);
  lists.begin.push_back(0);
  lists.offset.reserve(blocks.column.size());
  lists.value.reserve(blocks.value.size());
  std::vector<std::int64_t> next(blocks.begin.begin(), blocks.begin.end() - 1);
  const RowWriter writer{blocks, shape, rule, options.taps, lists};
  for (std::int64_t i = 0; i < lists.chunks; ++i) {
    for (std::int64_t row = 0; row < lists.block_rows; ++row) {
      writer.append(row, next[row], (i + 1) * chunk);
      lists.begin.push_back(static_cast<std::int64_t>(lists.offset.size()));
    }
  }
  return lists;
}

BlockCsr fitting_blocks(const BlockCsr& blocks, const ConvShape& shape, int vector) {
  int fitting = blocks.vector % vector == 0 ? vector : 1;
  if (shape.groups > 1 && shape.group_outputs() % fitting != 0) fitting = 1;
  return split_blocks(blocks, fitting);
}

}  // namespace winnow
