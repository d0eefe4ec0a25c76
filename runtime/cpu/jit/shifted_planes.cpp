#include "runtime/cpu/jit/shifted_planes.h"

#include <algorithm>

#include "runtime/base/divided_up.h"
#include "runtime/cpu/copy_rows.h"

namespace winnow {

ShiftedPlanes::ShiftedPlanes(const ConvShape& shape) : shape_(shape) {
  const std::int64_t last_tap = (shape.kernel[0] - 1) * shape.dilation[0];
  for (std::int64_t r = 0; r < shape.kernel[0]; ++r) {
    const std::int64_t phase = r * shape.dilation[0] % shape.stride[0];
    if (std::ranges::find(phases_, phase) == phases_.end()) phases_.push_back(phase);
  }
  if (!set_phases()) {
    first_cols_.clear();
    taps_.clear();
    for (std::int64_t s = 0; s < shape.kernel[1]; ++s) {
      first_cols_.push_back(s * shape.dilation[1] - shape.padding[1]);
      taps_.push_back({s, 0});
    }
  }
  rows_ = shape.out.h + last_tap / shape.stride[0];
  copy_floats_ = (divided_up(rows_ * shape.out.w, kGapVector) | 1) * kGapVector;
  channel_floats_ = static_cast<std::int64_t>(phases_.size() * first_cols_.size()) * copy_floats_;
}

// False if some tap reads further away, or an input behind a row's last place.
bool ShiftedPlanes::set_phases() {
  const std::int64_t stride = shape_.stride[1];
  for (std::int64_t s = 0; s < shape_.kernel[1]; ++s) {
    const std::int64_t col = s * shape_.dilation[1] - shape_.padding[1];
    const std::int64_t phase = (col % stride + stride) % stride, moved = (col - phase) / stride;
    const bool is_near = moved >= -1 && moved <= 1;
    if (!is_near || (moved == 1 && shape_.out.w * stride + phase < shape_.in.w)) return false;
    const auto known = std::ranges::find(first_cols_, phase);
    taps_.push_back({known - first_cols_.begin(), static_cast<int>(moved)});
    if (known == first_cols_.end()) first_cols_.push_back(phase);
  }
  return true;
}

std::int64_t ShiftedPlanes::floats(std::int64_t images) const {
  return kOrigin + images * image_floats() + kGapVector;
}

std::int64_t ShiftedPlanes::offset(std::int64_t c, std::int64_t r, std::int64_t s) const {
  const std::int64_t down = r * shape_.dilation[0];
  const std::int64_t phase = std::ranges::find(phases_, down % shape_.stride[0]) - phases_.begin();
  const auto copies = static_cast<std::int64_t>(first_cols_.size());
  return c * channel_floats_ + (phase * copies + taps_[s].copy) * copy_floats_ +
         down / shape_.stride[0] * shape_.out.w + taps_[s].moved;
}

void ShiftedPlanes::pack(const Planes& from, const float* input, float* packed, std::int64_t begin,
                         std::int64_t end) const {
  float* to = packed;
  for (std::int64_t plane = begin; plane < end; ++plane) {
    for (const std::int64_t phase : phases_) {
      for (const std::int64_t first_col : first_cols_) {
        pack_copy(input + from.origin + plane * from.stride, to, phase, first_col);
        to += copy_floats_;
      }
    }
  }
}

void ShiftedPlanes::pack_copy(const float* plane, float* to, std::int64_t phase,
                              std::int64_t first_col) const {
  const RowCopy copy{.plane = plane,
                     .h = shape_.in.h,
                     .w = shape_.in.w,
                     .first_row = phase - shape_.padding[0],
                     .row_step = shape_.stride[0],
                     .first_col = first_col,
                     .step = shape_.stride[1],
                     .rows = rows_,
                     .width = shape_.out.w};
  if (copy.step <= 2) return copy_rows(copy, to);
  for (std::int64_t i = 0; i < copy.rows * copy.width; ++i) {
    const std::int64_t y = copy.first_row + i / copy.width * copy.row_step;
    const std::int64_t x = copy.first_col + i % copy.width * copy.step;
    const bool is_inside = y >= 0 && y < copy.h && x >= 0 && x < copy.w;
    to[i] = is_inside ? plane[y * copy.w + x] : 0.0f;
  }
}

}  // namespace winnow
