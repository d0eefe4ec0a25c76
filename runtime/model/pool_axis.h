// How the windows of a pooling lie along one axis: the rules of torch and ONNX, for every backend.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/model/graph.h"

namespace winnow {

// Window i covers the positions i * stride - begin and `kernel - 1` behind it.
struct PoolAxis {
  std::int64_t size = 0;  // positions of the input
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t begin = 0;  // padding before the first position
  std::int64_t end = 0;    // and behind the last one
  bool rounds_up = false;
  bool counts_padding = true;

  // How many windows there are; 0 if none fits. Where sizes round up, a last window may reach
  // beyond the padding, but begins within the input or the padding before it.
  std::int64_t positions() const {
    const std::int64_t room = size + begin + end - kernel + (rounds_up ? stride - 1 : 0);
    if (room < 0) return 0;
    const std::int64_t last = room / stride;
    return rounds_up && last * stride >= size + begin ? last : last + 1;
  }

  // How many positions an average of window i counts: those of the input, and of the padding if
  // `counts_padding`. What lies beyond the padding never counts.
  std::int64_t counted(std::int64_t i) const {
    const std::int64_t first = i * stride - begin, past = first + kernel;
    if (counts_padding) return std::min(past, size + end) - first;
    return std::min(past, size) - std::max<std::int64_t>(first, 0);
  }
};

// Along axis 0 (vertical; of rank 1 a single row) or 1, over `size` positions.
inline PoolAxis pool_axis(const Pool& op, std::size_t axis, std::int64_t size) {
  return {.size = size,
          .kernel = op.kernel[axis],
          .stride = op.stride[axis],
          .begin = op.padding[axis],
          .end = op.padding_end.value_or(op.padding)[axis],
          .rounds_up = op.rounds_up,
          .counts_padding = op.counts_padding};
}

}  // namespace winnow
