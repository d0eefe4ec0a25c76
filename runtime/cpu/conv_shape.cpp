#include "runtime/cpu/conv_shape.h"

#include <algorithm>

namespace winnow {

ConvShape conv_shape(const Conv& op, const Shape& input, const Shape& output) {
  ConvShape shape;
  shape.in = extents_of(input);
  shape.out = extents_of(output);
  shape.kernel = op.kernel;
  shape.stride = op.stride;
  shape.padding = op.padding;
  shape.dilation = op.dilation;
  shape.groups = op.groups;
  if (op.rank == 1) {  // the one row is neither padded nor skipped, whatever the pairs hold
    shape.kernel[0] = shape.stride[0] = shape.dilation[0] = 1;
    shape.padding[0] = 0;
  }
  return shape;
}

ConvShape linear_shape(const Linear& op, const Shape& input) {
  const std::int64_t rows = element_count(input) / std::max<std::int64_t>(op.in_features, 1);
  ConvShape shape;
  shape.in = extents_of({rows, op.in_features});
  shape.out = extents_of({rows, op.out_features});
  return shape;
}

std::vector<BorderSpan> border_spans(const ConvShape& shape, int axis) {
  const std::int64_t size = axis == 0 ? shape.in.h : shape.in.w;
  const std::int64_t outputs = axis == 0 ? shape.out.h : shape.out.w;
  std::vector<BorderSpan> spans;
  for (std::int64_t i = 0; i < outputs; ++i) {
    const std::int64_t corner = i * shape.stride[axis] - shape.padding[axis];
    BorderSpan span{i, i + 1, shape.kernel[axis], 0};
    for (std::int64_t tap = 0; tap < shape.kernel[axis]; ++tap) {
      const std::int64_t at = corner + tap * shape.dilation[axis];
      if (at < 0 || at >= size) continue;
      span.first = std::min(span.first, tap);
      span.last = tap + 1;
    }
    if (span.first > span.last) span.first = span.last = 0;
    const bool grows =
        !spans.empty() && spans.back().first == span.first && spans.back().last == span.last;
    if (grows) {
      spans.back().end = i + 1;
    } else {
      spans.push_back(span);
    }
  }
  return spans;
}

}  // namespace winnow
