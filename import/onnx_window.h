// How an ONNX node slides its kernel over positions. For the sources of this folder only.
#pragma once

#include <vector>

#include "import/onnx_call.h"

namespace winnow {

// Along one dimension.
struct OnnxWindow {
  std::int64_t size = 0;  // positions of the input, without padding
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t begin = 0;  // padding before the first position
  std::int64_t end = 0;    // and behind the last one

  std::int64_t extent() const { return (kernel - 1) * dilation + 1; }
};

// The windows of a Conv or pooling over `value`, one per dimension, vertical first, from the
// attributes strides, dilations, pads and auto_pad; zeros that a Pad put around the value are not
// in them. Refuses numbers beyond 65536 and windows of more than two dimensions.
std::vector<OnnxWindow> windows_of(const OnnxCall& call, const OnnxValue& value,
                                   const std::vector<std::int64_t>& kernel);

// Rank 1 is {other, value} in the graph.
template <typename Member>
Pair pair_of(const std::vector<OnnxWindow>& windows, std::int64_t other, Member member) {
  if (windows.size() == 1) return {other, member(windows[0])};
  return {member(windows[0]), member(windows[1])};
}

}  // namespace winnow
