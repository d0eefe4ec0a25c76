// Sizes of a convolution, and where its output touches the padding.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/cpu/layout.h"
#include "runtime/model/graph.h"

namespace winnow {

// A convolution of any rank, or a linear layer as a 1 x 1 convolution of a 1 x 1 plane.
struct ConvShape {
  Extents in;   // [N, C, H, W]
  Extents out;  // [N, K, E, F]
  Pair kernel = {1, 1};
  Pair stride = {1, 1};
  Pair padding = {0, 0};
  Pair dilation = {1, 1};
  std::int64_t groups = 1;

  std::int64_t group_channels() const { return in.c / groups; }
  std::int64_t group_outputs() const { return out.c / groups; }
  std::int64_t cols() const { return group_channels() * kernel[0] * kernel[1]; }
  bool is_padded() const { return padding[0] != 0 || padding[1] != 0; }
};

ConvShape conv_shape(const Conv& op, const Shape& input, const Shape& output);

// Leading dimensions beyond the features count as images.
ConvShape linear_shape(const Linear& op, const Shape& input);

// Outputs begin .. end - 1 along one axis see the kernel's taps first .. last - 1 inside the input
// and all others in the padding.
struct BorderSpan {
  std::int64_t begin = 0, end = 0;
  std::int64_t first = 0, last = 0;

  friend bool operator==(const BorderSpan&, const BorderSpan&) = default;
};

// The outputs along `axis` (0 vertical, 1 horizontal) in maximal spans, in order.
std::vector<BorderSpan> border_spans(const ConvShape& shape, int axis);

}  // namespace winnow
