// Pooling.
#include <algorithm>
#include <string>

#include "import/onnx_window.h"
#include "import/operator_table.h"
#include "runtime/model/pool_axis.h"

namespace winnow {
namespace {

// Whether both have the same windows, which count the same positions.
bool pool_alike(const Pool& a, const Pool& b, const std::vector<OnnxWindow>& windows) {
  for (std::size_t d = 0; d < windows.size(); ++d) {
    const std::size_t axis = 2 - windows.size() + d;
    const PoolAxis one = pool_axis(a, axis, windows[d].size);
    const PoolAxis other = pool_axis(b, axis, windows[d].size);
    if (one.positions() != other.positions()) return false;
    for (std::int64_t i = 0; a.kind == PoolKind::average && i < one.positions(); ++i) {
      if (one.counted(i) != other.counted(i)) return false;
    }
  }
  return true;
}

// Without the settings that make no difference to an input of this size, so that kernels for plain
// windows fit more often.
Pool simplified(const Pool& op, const std::vector<OnnxWindow>& windows) {
  Pool best = op;
  const auto try_to = [&](auto change) {
    Pool simpler = best;
    change(simpler);
    if (pool_alike(simpler, op, windows)) best = simpler;
  };
  try_to([](Pool& p) { p.rounds_up = false; });
  try_to([](Pool& p) { p.padding_end.reset(); });
  try_to([](Pool& p) { p.counts_padding = true; });
  return best;
}

// A Pad in front makes positions of the padding, in which ONNX lets a last window begin.
void require_begins(const OnnxCall& call, const Pool& op, const OnnxWindow& window,
                    std::size_t axis) {
  Pool alone = op;
  alone.padding = {0, 0};
  alone.padding_end.reset();
  const std::int64_t found = pool_axis(op, axis, window.size).positions();
  const std::int64_t padded = window.size + window.begin + window.end;
  if (pool_axis(alone, axis, padded).positions() != found) {
    call.refuse("ceil_mode makes a window that begins in the zeros of a Pad");
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
  Pool op;
  op.kind = kind;
  op.rank = static_cast<int>(windows.size());
  op.rounds_up = call.integer("ceil_mode", 0) != 0;
  op.counts_padding = !is_average || call.integer("count_include_pad", 0) != 0;
  for (std::size_t d = 0; d < windows.size(); ++d) {
    if (windows[d].dilation != 1) call.refuse("dilation ", windows[d].dilation, ", expected 1");
    if (!value.is_padded()) continue;
    if (windows[d].begin + windows[d].end > 0) call.refuse("a Pad and padding of its own");
    windows[d].begin = value.padding[d];
    windows[d].end = value.padding[2 + d];
    op.counts_padding = true;
  }
  op.kernel = pair_of(windows, 1, [](const OnnxWindow& w) { return w.kernel; });
  op.stride = pair_of(windows, 1, [](const OnnxWindow& w) { return w.stride; });
  op.padding = pair_of(windows, 0, [](const OnnxWindow& w) { return w.begin; });
  const Pair end = pair_of(windows, 0, [](const OnnxWindow& w) { return w.end; });
  if (end != op.padding) op.padding_end = end;
  for (std::size_t d = 0; value.is_padded() && d < windows.size(); ++d) {
    require_begins(call, op, windows[d], 2 - windows.size() + d);
  }
  op = simplified(op, windows);
  if (op.rounds_up && call.text("auto_pad", "NOTSET") != "NOTSET") {
    call.refuse("auto_pad and a ceil_mode that adds a window, which programs read differently");
  }
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
