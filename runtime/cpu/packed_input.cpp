#include "runtime/cpu/packed_input.h"

#include <algorithm>

#include "runtime/base/divided_up.h"

namespace winnow {

PackedPlanes::PackedPlanes(const ConvShape& shape) : shape_(shape) {
  const auto& [stride_h, stride_w] = shape.stride;
  rows_ = divided_up(shape.in.h + 2 * shape.padding[0], stride_h);
  // At stride 1 a row's right padding is the next row's left padding.
  const std::int64_t right = stride_w == 1 ? 0 : shape.padding[1];
  // A row of outputs must end before the next one begins: padding beyond the kernel is wider.
  pitch_ = std::max(divided_up(shape.in.w + shape.padding[1] + right, stride_w), shape.out.w);
  phase_floats_ = rows_ * pitch_ + (stride_w == 1 ? shape.padding[1] : 0);
  for (std::int64_t r = 0; r < shape.kernel[0]; ++r) {
    for (std::int64_t s = 0; s < shape.kernel[1]; ++s) {
      const std::array<std::int64_t, 2> phase = {r * shape.dilation[0] % stride_h,
                                                 s * shape.dilation[1] % stride_w};
      const auto found = std::find(phases_.begin(), phases_.end(), phase);
      phase_of_tap_.push_back(found - phases_.begin());
      if (found == phases_.end()) phases_.push_back(phase);
    }
  }
  channel_floats_ = phase_floats_ * static_cast<std::int64_t>(phases_.size());
}

std::int64_t PackedPlanes::offset(std::int64_t c, std::int64_t r, std::int64_t s) const {
  const std::int64_t down = r * shape_.dilation[0] / shape_.stride[0];
  const std::int64_t right = s * shape_.dilation[1] / shape_.stride[1];
  return c * channel_floats_ + phase_of_tap_[r * shape_.kernel[1] + s] * phase_floats_ +
         down * pitch_ + right;
}

std::int64_t PackedPlanes::largest_tap_offset() const {
  return shape_.kernel[0] * shape_.dilation[0] * pitch_ + shape_.kernel[1] * shape_.dilation[1];
}

void PackedPlanes::pack(const float* input, float* packed, std::int64_t begin,
                        std::int64_t end) const {
  for (std::int64_t plane = begin; plane < end; ++plane) {
    float* to = packed + plane * channel_floats_;
    for (const auto& phase : phases_) {
      pack_phase(input + plane * shape_.in.h * shape_.in.w, to, phase);
      to += phase_floats_;
    }
  }
}

void PackedPlanes::pack_phase(const float* plane, float* packed,
                              std::array<std::int64_t, 2> phase) const {
  const auto& [h, w] = std::array{shape_.in.h, shape_.in.w};
  const std::int64_t step = shape_.stride[1], pad = shape_.padding[1];
  // Columns first .. last - 1 of a packed row come from the input.
  const std::int64_t first =
      std::min(pitch_, divided_up(std::max<std::int64_t>(pad - phase[1], 0), step));
  const std::int64_t last = std::clamp(divided_up(pad + w - phase[1], step), first, pitch_);
  std::fill_n(packed, phase_floats_, 0.0f);
  for (std::int64_t row = 0; row < rows_; ++row) {
    const std::int64_t y = row * shape_.stride[0] + phase[0] - shape_.padding[0];
    if (y < 0 || y >= h) continue;
    const float* from = plane + y * w + phase[1] - pad;
    float* to = packed + row * pitch_;
    if (step == 1) {
      std::copy(from + first, from + last, to + first);
    } else {
      for (std::int64_t x = first; x < last; ++x) to[x] = from[x * step];
    }
  }
}

PackedPixels::PackedPixels(const ConvShape& shape) : shape_(shape) {
  groups_ = divided_up(shape.in.c, kLanes);
  rows_ = shape.in.h + 2 * shape.padding[0];
  pitch_ = shape.in.w + shape.padding[1];  // a row's right padding is the next row's left padding
  plane_floats_ = (rows_ * pitch_ + shape.padding[1]) * kLanes;
}

std::int64_t PackedPixels::offset(std::int64_t c, std::int64_t r, std::int64_t s) const {
  const std::int64_t position = r * shape_.dilation[0] * pitch_ + s * shape_.dilation[1];
  return c / kLanes * plane_floats_ + position * kLanes + c % kLanes;
}

void PackedPixels::pack(const float* input, float* packed, std::int64_t begin,
                        std::int64_t end) const {
  const Extents& in = shape_.in;
  for (std::int64_t index = begin; index < end; ++index) {
    const std::int64_t image = index / groups_, channel = index % groups_ * kLanes;
    const std::int64_t count = std::min(kLanes, in.c - channel);
    float* plane = packed + index * plane_floats_;
    std::fill_n(plane, plane_floats_, 0.0f);
    for (std::int64_t y = 0; y < in.h; ++y) {
      const float* from = input + (image * in.h + y) * in.w * in.c + channel;
      float* to = plane + ((y + shape_.padding[0]) * pitch_ + shape_.padding[1]) * kLanes;
      for (std::int64_t x = 0; x < in.w; ++x) {
        std::copy(from + x * in.c, from + x * in.c + count, to + x * kLanes);
      }
    }
  }
}

}  // namespace winnow
