// Sparse weights: compressed sparse rows of equal length (paper 003, section 7).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/model/values.h"

namespace winnow {

// A weight [rows * vector, cols] of which only kept blocks are stored. One block is one column of
// `vector` neighbouring output channels, which share a mask bit and an index; vector 1 is the
// unstructured mask of the papers.
//
// Every row of blocks has the same length, that of the fullest one: shorter rows are padded with
// zeros in columns beside existing ones, so that all threads run the same number of iterations and
// read contiguously. The pad does not change the result.
//
// For a convolution, cols = C / groups * R * S and column = (c * R + r) * S + s with c counted
// within the channel's group; `channels` is K. For a linear layer cols is its in_features.
struct CsrWeight {
  std::int64_t channels = 0;  // K; the last row of blocks may reach beyond it, with zeros
  std::int64_t cols = 0;
  int vector = 1;                     // 1, 8, 16 or 32
  std::int64_t rows = 0;              // ceil(channels / vector)
  std::int64_t row_length = 0;        // blocks per row, pads included
  std::vector<std::uint32_t> column;  // [rows, row_length] strictly increasing within a row
  std::vector<std::uint32_t> kept;    // [rows] blocks of the row that are no pads
  Values values;                      // [rows, row_length, vector]; lanes is vector

  friend bool operator==(const CsrWeight&, const CsrWeight&) = default;
};

// Where the blocks of a mask lie, before values are attached.
struct CsrPattern {
  std::int64_t channels = 0;
  std::int64_t cols = 0;
  int vector = 1;
  std::int64_t rows = 0;
  std::int64_t row_length = 0;
  std::vector<std::uint32_t> column;  // [rows, row_length] strictly increasing within a row
  std::vector<std::uint32_t> kept;    // [rows]
};

// Builds the padded pattern of a mask.
//
//   mask  [ceil(channels / vector), cols] 0 or 1, row-major
//
// The padding rule: a pad takes the free column next to an existing one that is nearest (the lower
// column on a tie), so that runs grow; a row without blocks is padded from column 0.
// Throws Error{usage} if sizes disagree.
CsrPattern build_csr_pattern(std::span<const std::uint8_t> mask, std::int64_t channels,
                             std::int64_t cols, int vector);

// The weight with this pattern; values as CsrWeight::values says.
CsrWeight csr_weight(CsrPattern pattern, Values values);

// Position in the dense weight [channels, cols] of every stored value, [rows, row_length, vector];
// -1 for channels beyond the last.
std::vector<std::int64_t> dense_positions(const CsrPattern& pattern);

// All channels * cols weights, zeros included, row-major.
std::vector<float> to_dense(const CsrWeight& weight);

// Number of stored values that are no pads and belong to an existing channel.
std::int64_t nonzero_count(const CsrWeight& weight);

// Names the first rule that `weight` breaks; empty if none. Safe on any input.
std::string find_defect(const CsrWeight& weight);

}  // namespace winnow
