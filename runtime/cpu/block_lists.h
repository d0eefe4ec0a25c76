// Weights as lists of (input offset, values): the pre-computed offsets of paper 003, section 7
// (after Park et al., "Faster CNNs with Direct Sparse Convolutions and Guided Pruning", 2016).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/cpu/conv_shape.h"
#include "runtime/plan/block_csr.h"

namespace winnow {

// The taps of a kernel that lie inside the input.
struct TapWindow {
  std::int64_t first_row = 0, last_row = 0;  // [first, last)
  std::int64_t first_col = 0, last_col = 0;
};
TapWindow all_taps(const ConvShape& shape);

// One list per chunk of input channels and row of blocks; chunks outermost, so that all rows run
// over the same part of the input while it lies in the cache.
struct BlockLists {
  int vector = 1;
  std::int64_t block_rows = 0;
  std::int64_t chunks = 1;
  std::vector<std::int64_t> begin;   // [chunks * block_rows + 1]
  std::vector<std::int32_t> offset;  // in floats
  std::vector<float> value;          // [entries, vector]

  std::int64_t entries(std::int64_t first_block_row, std::int64_t last_block_row) const;
};

// Offset of channel c (counted over all groups) and tap (r, s) from an output point's first input.
using OffsetRule = std::function<std::int64_t(std::int64_t c, std::int64_t r, std::int64_t s)>;

struct ListOptions {
  TapWindow taps;
  std::int64_t chunk_channels = 0;  // 0: one chunk
};

// Requires blocks that do not straddle groups (see fitting_blocks).
// Throws Error{usage} if an offset exceeds 32 bits.
BlockLists make_block_lists(const BlockCsr& blocks, const ConvShape& shape, const OffsetRule& rule,
                            const ListOptions& options);

// `blocks` split as far as a kernel of `vector` channels and the groups demand.
BlockCsr fitting_blocks(const BlockCsr& blocks, const ConvShape& shape, int vector);

}  // namespace winnow
