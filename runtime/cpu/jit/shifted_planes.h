// Copies of an input, one for each horizontal tap of a kernel, with zero padding written out: a
// position's index in any of them is that of the output, whatever the stride, padding and dilation.
// Needs AVX-512.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/cpu/conv_shape.h"

namespace winnow {

// [C][vertical phases][S][rows][F] of an image: row j of phase a holds the input's row
// j * stride - padding + a, so that neighbouring outputs are neighbours whatever the vertical
// stride.
class ShiftedPlanes {
 public:
  explicit ShiftedPlanes(const ConvShape& shape);

  std::int64_t channel_floats() const { return channel_floats_; }
  // Positions beyond the last output are read by its last vector: `guard` floats behind all planes.
  std::int64_t floats(std::int64_t guard) const { return shape_.in.n * image_floats() + guard; }
  std::int64_t image_floats() const { return shape_.in.c * channel_floats_; }
  std::int64_t offset(std::int64_t c, std::int64_t r, std::int64_t s) const;

  // Copies planes begin .. end - 1 of the N * C of `input`, whose planes lie as `from` says.
  void pack(const Planes& from, const float* input, float* packed, std::int64_t begin,
            std::int64_t end) const;

 private:
  void pack_copy(const float* plane, float* to, std::int64_t phase, std::int64_t s) const;

  ConvShape shape_;
  std::vector<std::int64_t> phases_;  // those that some tap reads
  std::int64_t rows_ = 0;
  std::int64_t copy_floats_ = 0;
  std::int64_t channel_floats_ = 0;
};

}  // namespace winnow
