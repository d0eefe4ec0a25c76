#include "import/conv_operator.h"

#include <algorithm>
#include <string>

#include "import/onnx_window.h"

namespace winnow {
namespace {

// Zeros before and behind the kernel with which the larger padding serves both sides: the window of
// output i begins at i * stride - padding, so that a kernel that begins later needs zeros before.
struct Enlarged {
  std::int64_t padding = 0;
  std::int64_t before = 0;
  std::int64_t kernel = 0;
};

Enlarged enlarged(const OnnxCall& call, const OnnxWindow& window) {
  const std::int64_t padding = std::max(window.begin, window.end);
  const std::int64_t before = padding - window.begin;
  const std::int64_t behind = padding - window.end;
  if (before % window.dilation != 0 || behind % window.dilation != 0) {
    call.refuse("padding ", window.begin, " before and ", window.end, " behind with dilation ",
                window.dilation, ", expected equal padding");
  }
  const std::int64_t taps = (before + behind) / window.dilation;
  if (taps > std::max<std::int64_t>(window.kernel, 2)) {
    call.refuse("padding ", window.begin, " before and ", window.end,
                " behind differ by more than the kernel's ", window.kernel);
  }
  return {padding, before / window.dilation, window.kernel + taps};
}

// The weights [filters, R, S] amid zeros [filters, R', S']; rank 1 has R = R' = 1.
std::vector<float> amid_zeros(const std::vector<float>& weight, Pair kernel, Pair grown,
                              Pair before) {
  if (kernel == grown) return weight;
  const std::int64_t filters = std::ssize(weight) / (kernel[0] * kernel[1]);
  std::vector<float> result(static_cast<std::size_t>(filters * grown[0] * grown[1]), 0.0F);
  for (std::int64_t f = 0; f < filters; ++f) {
    for (std::int64_t r = 0; r < kernel[0]; ++r) {
      const auto from = weight.begin() + (f * kernel[0] + r) * kernel[1];
      const std::int64_t to = (f * grown[0] + r + before[0]) * grown[1] + before[1];
      std::copy(from, from + kernel[1], result.begin() + to);
    }
  }
  return result;
}

std::vector<float> bias_of(const OnnxCall& call, std::int64_t channels) {
  if (!call.has(2)) return {};
  return call.floats(2, static_cast<std::size_t>(channels));
}

void set_parameters(const OnnxCall& call, const std::string& name, Shape shape,
                    const std::vector<float>& weight, const std::vector<float>& bias) {
  if (!bias.empty()) call.network.set(name, "bias", {shape[0]}, bias);
  call.network.set(name, "weight", std::move(shape), weight);
}

// Of a value whose positions have been pooled to one.
OnnxValue pointwise(const OnnxCall& call, const OnnxValue& value, const Tensor& weight) {
  const Shape& shape = weight.shape();
  if (weight.count() != shape[0] * shape[1] || call.integer("group", 1) != 1) {
    call.refuse("its input has one position, expected a kernel of size 1 without groups");
  }
  for (const OnnxWindow& window : windows_of(call, value, {shape.begin() + 2, shape.end()})) {
    if (window.begin + window.end > 0)
      call.refuse("its input has one position, expected no padding");
  }
  const std::vector<float> bias = bias_of(call, shape[0]);
  const std::string name =
      call.network.add(call.name(1), Linear{shape[1], shape[0], !bias.empty()}, {value.node});
  set_parameters(call, name, {shape[0], shape[1]}, to_floats(weight), bias);
  OnnxValue result = call.result(name);
  result.shape.resize(value.shape.size(), 1);
  return result;
}

}  // namespace

OnnxValue convolution(const OnnxCall& call) {
  const OnnxValue& value = call.padded_value(0);
  const Tensor weight = call.constant(1);
  const Shape& shape = weight.shape();
  if (shape.size() < 3 || shape.size() > 4 || weight.count() == 0) {
    call.refuse("its weight has the shape ", to_string(shape),
                ", expected 3 or 4 dimensions [K, C, ...]");
  }
  const std::vector<std::int64_t> kernel(shape.begin() + 2, shape.end());
  if (call.list("kernel_shape").value_or(kernel) != kernel) {
    call.refuse("its attribute 'kernel_shape' contradicts its weight ", to_string(shape));
  }
  const bool is_pooled = value.shape.size() > 1 && call.network.shape_of(value.node).size() == 1;
  if (is_pooled && !value.is_padded()) return pointwise(call, value, weight);

  std::vector<OnnxWindow> windows = windows_of(call, value, kernel);
  std::vector<Enlarged> grown;
  for (std::size_t d = 0; d < windows.size(); ++d) {
    windows[d].begin += value.padding[d];
    windows[d].end += value.padding[2 + d];
    grown.push_back(enlarged(call, windows[d]));
  }
  const auto pair = [&](std::int64_t other, auto member) {
    return windows.size() == 1 ? Pair{other, member(0)} : Pair{member(0), member(1)};
  };
  Conv op;
  op.rank = static_cast<int>(windows.size());
  op.groups = call.integer("group", 1);
  op.out_channels = shape[0];
  // A product beyond any limit is refused by the graph.
  if (__builtin_mul_overflow(shape[1], op.groups, &op.in_channels)) call.refuse("too many groups");
  op.kernel = pair(1, [&](std::size_t d) { return grown[d].kernel; });
  op.stride = pair(1, [&](std::size_t d) { return windows[d].stride; });
  op.padding = pair(0, [&](std::size_t d) { return grown[d].padding; });
  op.dilation = pair(1, [&](std::size_t d) { return windows[d].dilation; });
  const std::vector<float> bias = bias_of(call, shape[0]);
  op.has_bias = !bias.empty();
  const std::string name = call.network.add(call.name(1), op, {value.node});
  Shape stored = {shape[0], shape[1], op.kernel[0], op.kernel[1]};
  if (op.rank == 1) stored.erase(stored.begin() + 2);
  const Pair before = pair(0, [&](std::size_t d) { return grown[d].before; });
  set_parameters(call, name, std::move(stored),
                 amid_zeros(to_floats(weight), pair(1, [&](std::size_t d) { return kernel[d]; }),
                            op.kernel, before),
                 bias);
  return call.result(name);
}

}  // namespace winnow
