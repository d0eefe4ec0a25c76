// Copies of an input with its zero padding written out, so that a convolution needs no tests.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/cpu/conv_shape.h"

namespace winnow {

// Planes [N][C] of padded rows. The columns of padding right of a row are those left of the next.
// A stride splits a plane into phases: phase (a, b) holds the positions y * stride_h + a,
// x * stride_w + b, so that neighbouring outputs read neighbouring floats whatever the stride.
// Phases that no tap reads are left out.
class PackedPlanes {
 public:
  explicit PackedPlanes(const ConvShape& shape);

  std::int64_t pitch() const { return pitch_; }
  std::int64_t image_floats() const { return shape_.in.c * channel_floats_; }
  std::int64_t offset(std::int64_t c, std::int64_t r, std::int64_t s) const;
  std::int64_t largest_tap_offset() const;

  // Packs planes begin .. end - 1 of the N * C of an input in nchw.
  void pack(const float* input, float* packed, std::int64_t begin, std::int64_t end) const;

 private:
  void pack_phase(const float* plane, float* packed, std::array<std::int64_t, 2> phase) const;

  ConvShape shape_;
  std::int64_t rows_ = 0;   // of one phase
  std::int64_t pitch_ = 0;  // floats from row to row
  std::int64_t phase_floats_ = 0;
  std::int64_t channel_floats_ = 0;
  std::vector<std::array<std::int64_t, 2>> phases_;
  std::vector<std::int64_t> phase_of_tap_;  // [R * S] index into phases_
};

// [N][ceil(C / 16)][rows][pitch][16 channels], from a value in nhwc.
class PackedPixels {
 public:
  static constexpr std::int64_t kLanes = 16;

  explicit PackedPixels(const ConvShape& shape);

  std::int64_t pitch() const { return pitch_; }  // in positions
  std::int64_t image_floats() const { return groups_ * plane_floats_; }
  std::int64_t offset(std::int64_t c, std::int64_t r, std::int64_t s) const;

  // Packs planes begin .. end - 1 of the N * ceil(C / 16) of a value.
  std::int64_t planes() const { return shape_.in.n * groups_; }
  std::int64_t planes_of_image() const { return groups_; }
  std::int64_t plane_floats() const { return plane_floats_; }
  void pack(const float* input, float* packed, std::int64_t begin, std::int64_t end) const;

 private:
  ConvShape shape_;
  std::int64_t groups_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t pitch_ = 0;
  std::int64_t plane_floats_ = 0;
};

}  // namespace winnow
