#include "runtime/plan/layout.h"

#include <limits>

#include "runtime/base/error.h"

namespace winnow {

Extents extents_of(const Shape& shape) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (shape.size() < 2 || shape.size() > 4) {
    fail(ErrorCode::usage, "a value has the shape ", to_string(shape),
         ": expected 2, 3 or 4 dimensions");
  }
  for (const std::int64_t size : shape) {
    if (size < 0 || size > kMost) {
      fail(ErrorCode::usage, "a value has the shape ", to_string(shape),
           ": a size is not in 0 to 2^31 - 1");
    }
  }
  Extents x{shape[0], shape[1], 1, 1};
  if (shape.size() == 3) x.w = shape[2];
  if (shape.size() == 4) x.h = shape[2], x.w = shape[3];
  if (element_count({x.c, x.h, x.w}) > kMost) {
    fail(ErrorCode::usage, "a sample of ", to_string(shape), " exceeds 2^31 elements");
  }
  return x;
}

std::string to_string(const Layout& layout) {
  switch (layout.order) {
    case Order::nchw:
      return layout.has_gaps ? "nchw-gaps" : "nchw";
    case Order::nhwc:
      return "nhwc";
    case Order::chwn:
      return "chwn" + std::to_string(layout.block) + (layout.has_gaps ? "-gaps" : "");
    case Order::nchwc:
      return "nchw" + std::to_string(layout.block) + "c";
    case Order::nchwcn:
      return "nchw" + std::to_string(kBlockedChannels) + "c" + std::to_string(layout.block) + "n";
  }
  fail(ErrorCode::internal, "unknown layout");
}

}  // namespace winnow
