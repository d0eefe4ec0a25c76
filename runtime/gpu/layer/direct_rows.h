// Weights in the order in which the direct sparse convolution walks them. Pure host code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/gpu/layer/activation.h"
#include "runtime/model/model.h"
#include "runtime/plan/block_csr.h"

namespace winnow {

// The rows of a BlockCsr, with or without the pads of the file. Without, rows differ in length: a
// thread block works on one row, so its threads still run equally long. Every row is filled up to a
// multiple of kDirectUnroll blocks with zeros in its last column (an empty row stays empty), so
// that the kernel's loop has no remainder and reads 16 bytes at a time.
inline constexpr int kDirectUnroll = 4;

struct DirectRows {
  std::int64_t channels = 0;  // K
  std::int64_t rows = 0;      // ceil(K / vector)
  int vector = 1;
  std::int32_t row_length = 0;        // blocks of every row; 0 where they differ
  std::vector<std::int32_t> begin;    // [rows + 1] first block of each row, multiples of 4
  std::vector<std::uint32_t> column;  // [blocks]
  std::vector<float> values;          // [blocks, vector]; channels beyond the last are 0
  std::vector<std::int32_t> order;    // [rows] rows by falling length, so that short ones come last
};

// Where a block would reach over the border of two groups of channels (K / groups is no multiple of
// vector) the rows are taken apart to vector 1, without zeros.
// Throws Error{usage} if the blocks do not fit 31 bits.
DirectRows direct_rows(const BlockCsr& weight, std::int64_t groups);

// Of a stored weight of `channels` rows, without pads. In a dense one 16 or 8 channels share a row
// where groups allow.
DirectRows direct_rows(const Weight& weight, std::int64_t channels, std::int64_t groups);

// values as [row][segment][block of the row][thread_channels]. A segment is the `thread_channels`
// channels of a row that one thread computes: a thread block copies a segment at a time.
// thread_channels divides vector.
std::vector<float> values_by_segment(const DirectRows& rows, int thread_channels);

// Pre-computed input offsets (paper 003, section 7): for every block the distance in elements from
// an output's first input, (c, r, s) = (0, 0, 0) of its group.
// Throws Error{device} if one does not fit 31 bits.
std::vector<std::int32_t> direct_offsets(const DirectRows& rows, const Conv& conv,
                                         const ActivationStrides& strides);

}  // namespace winnow
