// Activations as a sparse matrix that goes from layer to layer: a row an image, in order.
#pragma once

#include "runtime/challenge/engines/cusparse/activations/csr_rows.h"
#include "runtime/challenge/engines/cusparse/activations/live_rows.h"
#include "runtime/challenge/engines/cusparse/activations/prefix_sum.h"
#include "runtime/challenge/engines/cusparse/products/scratch.h"

namespace winnow::challenge {

class SparseActivations {
 public:
  SparseActivations() = default;
  // For at most `rows` images of at most `width` neurons; rows * width <= kMostNonzeros.
  SparseActivations(std::uint32_t rows, std::uint32_t width, cudaStream_t stream);
  // Device memory that one image takes.
  static std::size_t bytes_per_image(std::uint32_t width);

  // Becomes the images [rows.first, rows.last).
  void load(const DeviceImages& images, RowBounds rows);

  std::int32_t rows() const { return rows_; }
  std::int32_t nonzeros() const { return nonzeros_; }

  // Rows [first, last), nonzeros [begin, end) of it. The view of a range lies in scratch memory and
  // stays until the next call; nothing if memory does not hold it.
  struct RowRange {
    std::int32_t first, last;
    std::int32_t begin, end;
    std::int32_t rows() const { return last - first; }
    std::int32_t nonzeros() const { return end - begin; }
  };
  RowRange whole() const { return {0, rows_, 0, nonzeros_}; }
  std::optional<CsrView> view(const RowRange& range, std::int32_t columns);
  // The rows up to the middle and from there on. Requires two rows.
  std::pair<RowRange, RowRange> halves(const RowRange& range) const;

  // Builds the next layer's activations: for consecutive ranges of this one, in order, z being the
  // sums of the range's rows or nothing where all of them are zero. Then finish() makes them
  // current.
  void append(const RowRange& range, const std::optional<CsrView>& z, const float* bias);
  void finish();

  // Drops the rows that have no nonzeros; the others stay in order.
  void drop_dead_rows();

  // The images whose rows have nonzeros.
  Categories categories();

 private:
  struct Matrix {
    DeviceBuffer<std::int32_t> begin, column;
    DeviceBuffer<float> value;
  };
  std::int32_t read(const void* word) const;

  cudaStream_t stream_ = nullptr;
  std::int32_t rows_ = 0, nonzeros_ = 0;
  std::int32_t next_nonzeros_ = 0;
  Matrix current_, next_;
  DeviceBuffer<std::int32_t> counts_, spare_begin_;
  Scratch<std::int32_t> view_begin_, view_column_;
  Scratch<float> view_value_;
  PrefixSum prefix_sum_;
  LiveRows live_;
  PinnedBuffer<std::int32_t> read_;
};

}  // namespace winnow::challenge
