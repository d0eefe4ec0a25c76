// Copies of an input with zero padding written out, in which a position's index is that of the
// output, whatever the stride, padding and dilation. Needs AVX-512.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/cpu/conv_shape.h"

namespace winnow {

// [C][vertical phases][copies][rows][F] of an image: row j of phase a holds the input's row
// j * stride - padding + a, so that neighbouring outputs are neighbours whatever the vertical
// stride.
//
// Where every horizontal tap reads a column of its output's place or beside it, there is a copy for
// each horizontal phase: column j of phase b is the input's j * stride + b. Lanes at a row's ends
// must then be read under a mask. Elsewhere there is a copy for each tap.
class ShiftedPlanes {
 public:
  explicit ShiftedPlanes(const ConvShape& shape);

  std::int64_t channel_floats() const { return channel_floats_; }
  std::int64_t image_floats() const { return shape_.in.c * channel_floats_; }
  // Of `images` images, with what vectors read before the first place and beyond the last.
  std::int64_t floats(std::int64_t images) const;

  // Where tap (r, s) of channel c reads the first output's input, from where image 0 begins on.
  std::int64_t offset(std::int64_t c, std::int64_t r, std::int64_t s) const;
  // How many places tap s reads before (-1) or behind (1) its output's: lanes that would leave the
  // row see padding.
  int moved(std::int64_t s) const { return taps_[s].moved; }

  // Floats before image 0 of memory that begins on a vector: image 0 does too.
  static constexpr std::int64_t kOrigin = kGapVector;

  // Copies planes begin .. end - 1 of the N * C of `input`, whose planes lie as `from` says, to
  // `packed` and behind.
  void pack(const Planes& from, const float* input, float* packed, std::int64_t begin,
            std::int64_t end) const;

 private:
  struct Tap {
    std::int64_t copy = 0;
    int moved = 0;
  };

  bool set_phases();
  void pack_copy(const float* plane, float* to, std::int64_t phase, std::int64_t first_col) const;

  ConvShape shape_;
  std::vector<std::int64_t> phases_;      // vertical ones that some tap reads
  std::vector<std::int64_t> first_cols_;  // of each copy: the input's column at place 0
  std::vector<Tap> taps_;                 // horizontal ones
  std::int64_t rows_ = 0;
  std::int64_t copy_floats_ = 0;
  std::int64_t channel_floats_ = 0;
};

}  // namespace winnow
