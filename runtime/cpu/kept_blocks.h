// The weights that a sparse kernel multiplies by, free of padding and of the file's encoding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/model/csr.h"

namespace winnow {

// A block is one column of `vector` neighbouring output channels; blocks of nothing but zeros are
// left out. Columns as in CsrWeight, increasing within a row.
struct KeptBlocks {
  std::int64_t channels = 0;
  std::int64_t cols = 0;
  int vector = 1;
  std::vector<std::int64_t> begin;    // [rows + 1]
  std::vector<std::uint32_t> column;  // [blocks]
  std::vector<float> value;           // [blocks, vector]

  std::int64_t rows() const { return static_cast<std::int64_t>(begin.size()) - 1; }
};

KeptBlocks kept_blocks(const CsrWeight& weight);

// Blocks of `vector` channels of a dense weight [channels, cols].
KeptBlocks kept_blocks(std::span<const float> weight, std::int64_t channels, int vector);

// The same weights in narrower blocks. Requires blocks.vector % vector == 0.
KeptBlocks split_blocks(const KeptBlocks& blocks, int vector);

// All channels * cols weights, zeros included, row-major.
std::vector<float> dense_weight(const KeptBlocks& blocks);

}  // namespace winnow
