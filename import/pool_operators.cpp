// Pooling. The graph pools with padding that is the same on both sides and rounds output sizes
// down; what ONNX says otherwise is taken where it comes to the same.
#include <algorithm>
#include <string>

#include "import/onnx_window.h"
#include "import/operator_table.h"

namespace winnow {
namespace {

// The number of windows that ONNX asks for: those of ceil_mode begin within the input or the
// padding before it.
std::int64_t output_count(const OnnxWindow& window, bool rounds_up) {
  const std::int64_t room = window.size + window.begin + window.end - window.extent();
  if (room < 0) return 0;
  if (!rounds_up) return room / window.stride + 1;
  const std::int64_t count = (room + window.stride - 1) / window.stride + 1;
  const bool last_is_outside = (count - 1) * window.stride >= window.size + window.begin;
  return last_is_outside ? count - 1 : count;
}

void require_same_windows(const OnnxCall& call, const OnnxWindow& window, bool rounds_up) {
  if (window.dilation != 1) call.refuse("dilation ", window.dilation, ", expected 1");
  const OnnxWindow symmetric{window.size, window.kernel, window.stride,
                             1,           window.begin,  window.begin};
  const std::int64_t wanted = output_count(window, rounds_up);
  const std::int64_t found = output_count(symmetric, false);
  if (wanted == found && wanted > 0) return;
  call.refuse(rounds_up ? "ceil_mode and padding " : "padding ", window.begin, " before and ",
              window.end, " behind ", window.size, " positions give ", wanted, " outputs, but ",
              found, " with equal padding and sizes rounded down, which is what the graph has");
}

// The graph divides by the whole kernel always.
void require_whole_average(const OnnxCall& call, const OnnxWindow& window, bool rounds_up,
                           bool counts_padding) {
  const std::int64_t covered =
      (output_count(window, rounds_up) - 1) * window.stride + window.kernel;
  const std::int64_t behind = counts_padding ? window.end : 0;
  const bool is_whole =
      (counts_padding || window.begin == 0) && covered <= window.size + window.begin + behind;
  if (!is_whole) {
    call.refuse("some of its averages leave out padded positions, expected count_include_pad 1 ",
                "and no window beyond the padding");
  }
}

OnnxValue pooled(const OnnxCall& call, PoolKind kind) {
  const bool is_average = kind == PoolKind::average;
  if (call.node.outputs.size() > 1 && !call.node.outputs[1].empty()) {
    call.refuse("its output of indices is asked for, expected the maxima alone");
  }
  const OnnxValue& value = is_average ? call.padded_value(0) : call.value(0);
  const auto kernel = call.list("kernel_shape");
  if (!kernel) call.refuse("its attribute 'kernel_shape' is missing");
  std::vector<OnnxWindow> windows = windows_of(call, value, *kernel);
  const bool rounds_up = call.integer("ceil_mode", 0) != 0;
  bool counts_padding = call.integer("count_include_pad", 0) != 0;
  for (std::size_t d = 0; d < windows.size(); ++d) {
    if (value.is_padded()) {
      if (windows[d].begin + windows[d].end > 0) call.refuse("a Pad and padding of its own");
      windows[d].begin = value.padding[d];
      windows[d].end = value.padding[2 + d];
      counts_padding = true;
    }
    require_same_windows(call, windows[d], rounds_up);
    if (is_average) require_whole_average(call, windows[d], rounds_up, counts_padding);
  }
  Pool op;
  op.kind = kind;
  op.rank = static_cast<int>(windows.size());
  op.kernel = pair_of(windows, 1, [](const OnnxWindow& w) { return w.kernel; });
  op.stride = pair_of(windows, 1, [](const OnnxWindow& w) { return w.stride; });
  op.padding = pair_of(windows, 0, [](const OnnxWindow& w) { return w.begin; });
  return call.add(op, value.node);
}

OnnxValue max_pool(const OnnxCall& call) {
  return pooled(call, PoolKind::max);
}
OnnxValue average_pool(const OnnxCall& call) {
  return pooled(call, PoolKind::average);
}

// ONNX keeps positions of size 1, which the graph leaves out.
OnnxValue over_all_positions(const OnnxCall& call, PoolKind kind, bool keeps_positions) {
  const OnnxValue& value = call.value(0);
  if (value.shape.size() < 2) call.refuse("its input has no positions to pool over");
  const bool is_pooled = call.network.shape_of(value.node).size() == 1;
  OnnxValue result = is_pooled ? value : call.add(GlobalPool{kind}, value.node);
  result.shape = {value.shape[0]};
  if (keeps_positions) result.shape.resize(value.shape.size(), 1);
  return result;
}

OnnxValue global_average_pool(const OnnxCall& call) {
  return over_all_positions(call, PoolKind::average, true);
}

OnnxValue global_max_pool(const OnnxCall& call) {
  return over_all_positions(call, PoolKind::max, true);
}

// A mean or maximum over all positions; `axes` has been an attribute and is an input in later sets
// of operators.
OnnxValue reduced(const OnnxCall& call, PoolKind kind) {
  const OnnxValue& value = call.value(0);
  std::vector<std::int64_t> axes =
      call.has(1) ? call.integers(1) : call.list("axes").value_or(std::vector<std::int64_t>{});
  const std::int64_t rank = std::ssize(value.shape) + 1;
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 2; axis < rank; ++axis) positions.push_back(axis);
  for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  if (axes != positions) call.refuse("its axes are other than those of all positions");
  return over_all_positions(call, kind, call.integer("keepdims", 1) != 0);
}

OnnxValue reduce_mean(const OnnxCall& call) {
  return reduced(call, PoolKind::average);
}
OnnxValue reduce_max(const OnnxCall& call) {
  return reduced(call, PoolKind::max);
}

}  // namespace

const std::vector<OnnxOperator>& pool_operators() {
  static const std::vector<OnnxOperator> operators = {
      {"MaxPool",
       max_pool,
       {"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "storage_order", "strides"}},
      {"AveragePool",
       average_pool,
       {"auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape", "pads",
        "strides"}},
      {"GlobalAveragePool", global_average_pool, {}},
      {"GlobalMaxPool", global_max_pool, {}},
      {"ReduceMean", reduce_mean, {"axes", "keepdims", "noop_with_empty_axes"}, 1, 2},
      {"ReduceMax", reduce_max, {"axes", "keepdims", "noop_with_empty_axes"}, 1, 2},
  };
  return operators;
}

}  // namespace winnow
