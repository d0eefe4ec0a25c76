#include "import/onnx_window.h"

#include <algorithm>
#include <string>

namespace winnow {
namespace {

constexpr std::int64_t kLargest = 1 << 16;  // as the graph's own extents

// An attribute of `count` numbers from `least`; `if_missing` repeated where it is absent.
std::vector<std::int64_t> extents(const OnnxCall& call, const char* attribute, std::size_t count,
                                  std::int64_t least, std::int64_t if_missing) {
  const auto list = call.list(attribute);
  if (!list) return std::vector<std::int64_t>(count, if_missing);
  if (list->size() != count) {
    call.refuse("its attribute '", attribute, "' has ", list->size(), " numbers, expected ", count);
  }
  for (const std::int64_t value : *list) {
    if (value >= least && value <= kLargest) continue;
    call.refuse("its attribute '", attribute, "' has ", value, ", expected numbers from ", least,
                " to ", kLargest);
  }
  return *list;
}

// The padding that makes ceil(size / stride) outputs.
void pad_same(OnnxWindow& window, bool is_upper) {
  const std::int64_t outputs = (window.size + window.stride - 1) / window.stride;
  const std::int64_t total =
      std::max<std::int64_t>(0, (outputs - 1) * window.stride + window.extent() - window.size);
  window.begin = is_upper ? total / 2 : total - total / 2;
  window.end = total - window.begin;
}

}  // namespace

std::vector<OnnxWindow> windows_of(const OnnxCall& call, const OnnxValue& value,
                                   const std::vector<std::int64_t>& kernel) {
  const std::size_t rank = kernel.size();
  if (rank < 1 || rank > 2) {
    call.refuse("its kernel has ", rank, " dimensions, expected 1 or 2");
  }
  if (value.shape.size() != rank + 1) {
    call.refuse("its input has the shape [N, ...] with ", value.shape.size(),
                " dimensions behind N, expected ", rank + 1);
  }
  const auto strides = extents(call, "strides", rank, 1, 1);
  const auto dilations = extents(call, "dilations", rank, 1, 1);
  const auto pads = extents(call, "pads", 2 * rank, 0, 0);
  const std::string mode = call.text("auto_pad", "NOTSET");
  if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER") {
    call.refuse("its attribute 'auto_pad' is unknown");
  }
  std::vector<OnnxWindow> windows;
  for (std::size_t d = 0; d < rank; ++d) {
    if (kernel[d] < 1 || kernel[d] > kLargest) {
      call.refuse("its kernel has the size ", kernel[d], ", expected 1 to ", kLargest);
    }
    OnnxWindow window{value.shape[d + 1], kernel[d], strides[d], dilations[d], 0, 0};
    if (mode == "NOTSET") window.begin = pads[d];
    if (mode == "NOTSET") window.end = pads[rank + d];
    if (mode.starts_with("SAME")) pad_same(window, mode == "SAME_UPPER");
    windows.push_back(window);
  }
  return windows;
}

}  // namespace winnow
