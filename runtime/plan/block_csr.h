// The one view of a weight that kernels are made from: block-CSR with floats, whatever the file's
// encoding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/model/csr.h"

namespace winnow {

// A block is one column of `vector` neighbouring output channels, a block row all blocks of these
// channels. Columns as in CsrWeight, increasing within a row.
struct BlockCsr {
  std::int64_t channels = 0;  // K; the last row's blocks may reach beyond it, with zeros
  std::int64_t cols = 0;
  int vector = 1;
  std::vector<std::int64_t> begin;    // [rows + 1] first block of each row
  std::vector<std::uint32_t> column;  // [blocks]
  std::vector<float> value;           // [blocks, vector]

  std::int64_t rows() const { return static_cast<std::int64_t>(begin.size()) - 1; }
  std::int64_t blocks() const { return static_cast<std::int64_t>(column.size()); }
};

enum class Pads {
  drop,  // blocks of nothing but zeros are left out: rows differ in length
  keep,  // all rows are as long as the longest (paper 003, section 7; the ELLPACK format)
};

BlockCsr block_csr(const CsrWeight& weight, Pads pads = Pads::drop);

// Blocks of `vector` channels of a dense weight [channels, cols]; blocks of zeros are left out.
BlockCsr block_csr(std::span<const float> weight, std::int64_t channels, int vector);

// The same weights in narrower blocks; blocks of zeros are left out. Throws Error{internal} unless
// `vector` divides weight.vector.
BlockCsr split_blocks(const BlockCsr& weight, int vector);

// Blocks of padding for every kept one: 0 where all rows are equally long.
double pads_per_block(const CsrWeight& weight);

// All channels * cols weights, zeros included, row-major.
std::vector<float> dense_weight(const BlockCsr& weight);

}  // namespace winnow
