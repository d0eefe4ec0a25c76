// Max pooling of 2 x 2 positions, 2 apart, of a band of rows at a time: what a convolution has just
// written is pooled while a cache holds it, and never goes to memory.
#pragma once

#include <cstdint>

#include "runtime/cpu/layout.h"
#include "runtime/model/graph.h"

namespace winnow {

// Pooled rows first .. first + count - 1 of a plane, and the vectors of the plane before pooling
// that hold the rows they read.
struct PoolBand {
  std::int64_t first = 0, count = 0;
  std::int64_t first_vector = 0, vectors = 0;
};

class BandPool {
 public:
  // Bands of about `vectors` vectors of planes as those of `in`, nchw without gaps between rows.
  BandPool(const Extents& in, std::int64_t vectors);

  static bool fits(const Pool& op, const Extents& in);

  std::int64_t bands() const { return bands_; }
  PoolBand band(std::int64_t index) const;
  std::int64_t stride() const { return stride_; }  // floats from channel to channel of a band

  // Pools one channel of a band: `from` is its first vector, `plane` what the pooled plane begins
  // with. What is not a number wins. Needs AVX-512.
  void run(const PoolBand& band, const float* from, float* plane) const;

 private:
  std::int64_t width_, pooled_width_, pooled_rows_;
  std::int64_t bands_ = 0;
  std::int64_t stride_ = 0;
};

}  // namespace winnow
