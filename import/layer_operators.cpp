// Layers with weights, activations and joins.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "import/channel_constant.h"
#include "import/conv_operator.h"
#include "import/operator_table.h"

namespace winnow {
namespace {

// [rows, columns] -> [columns, rows]
std::vector<float> transposed(const std::vector<float>& values, std::size_t columns) {
  const std::size_t rows = values.size() / columns;
  std::vector<float> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    result[i % columns * rows + i / columns] = values[i];
  }
  return result;
}

// A linear layer with the weights of input 1, [in, out] or (`is_transposed`) [out, in], times
// `scale`; `bias` may be empty.
OnnxValue linear(const OnnxCall& call, bool is_transposed, float scale,
                 const std::function<std::vector<float>(std::size_t)>& bias_of) {
  const OnnxValue& value = call.value(0);
  if (value.shape.size() != 1) call.refuse("its input is not [N, F]; expected a Flatten before it");
  const Tensor weight = call.constant(1);
  if (weight.shape().size() != 2 || weight.count() == 0) {
    call.refuse("its weight has the shape ", to_string(weight.shape()),
                ", expected two dimensions");
  }
  const std::int64_t in = weight.shape()[is_transposed ? 1 : 0];
  const std::int64_t out = weight.shape()[is_transposed ? 0 : 1];
  std::vector<float> values = to_floats(weight);
  if (!is_transposed) values = transposed(values, static_cast<std::size_t>(out));
  for (float& x : values) x *= scale;
  const std::vector<float> bias = bias_of(static_cast<std::size_t>(out));
  const std::string name =
      call.network.add(call.name(1), Linear{in, out, !bias.empty()}, {value.node});
  call.network.set(name, "weight", {out, in}, values);
  if (!bias.empty()) call.network.set(name, "bias", {out}, bias);
  return call.result(name);
}

OnnxValue gemm(const OnnxCall& call) {
  if (call.integer("transA", 0) != 0) call.refuse("transA is 1, expected 0");
  const float beta = call.real("beta", 1);
  const auto bias_of = [&](std::size_t count) -> std::vector<float> {
    if (!call.has(2)) return {};
    const Tensor tensor = call.constant(2);
    std::vector<float> bias = to_floats(tensor);
    const bool is_row = tensor.shape().empty() || tensor.shape().back() == tensor.count();
    if (bias.size() == 1) bias.resize(count, bias[0]);
    if (bias.size() != count || !is_row) {
      call.refuse("its bias has the shape ", to_string(tensor.shape()), ", expected ", count,
                  " values");
    }
    for (float& x : bias) x *= beta;
    return bias;
  };
  return linear(call, call.integer("transB", 0) != 0, call.real("alpha", 1), bias_of);
}

OnnxValue mat_mul(const OnnxCall& call) {
  return linear(call, false, 1, [](std::size_t) { return std::vector<float>(); });
}

OnnxValue batch_normalization(const OnnxCall& call) {
  if (call.integer("training_mode", 0) != 0) call.refuse("training_mode is 1, expected 0");
  if (call.integer("spatial", 1) != 1) call.refuse("spatial is 0, expected 1");
  const OnnxValue& value = call.value(0);
  BatchNorm op;
  op.channels = value.shape.at(0);
  op.epsilon = static_cast<double>(call.real("epsilon", 1e-5F));
  // ONNX's momentum is the share of the old statistics, the graph's that of the new ones.
  op.momentum = static_cast<double>(1 - call.real("momentum", 0.9F));
  const auto count = static_cast<std::size_t>(op.channels);
  const std::string name = call.network.add(call.name(1), op, {value.node});
  constexpr const char* kParts[] = {"weight", "bias", "running_mean", "running_var"};
  for (std::size_t i = 0; i < std::size(kParts); ++i) {
    call.network.set(name, kParts[i], {op.channels}, call.floats(i + 1, count));
  }
  OnnxValue result = call.result(name);
  result.shape = value.shape;
  return result;
}

// A layer that leaves the shape as it is.
OnnxValue same_shape(const OnnxCall& call, Op op) {
  const OnnxValue& value = call.value(0);
  OnnxValue result = call.add(std::move(op), value.node);
  result.shape = value.shape;
  return result;
}

OnnxValue relu(const OnnxCall& call) {
  return same_shape(call, Relu{});
}

// Bounds were attributes before set 11.
OnnxValue clip(const OnnxCall& call) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const float low = call.number(1, call.real("min", -kLargest));
  const float high = call.number(2, call.real("max", kLargest));
  const bool is_bounded = !(high >= kLargest);  // not a number is refused by the graph
  if (low <= -kLargest && !is_bounded) return call.value(0);
  if (low != 0) call.refuse("clips at ", low, " from below, expected 0");
  Relu op;
  if (is_bounded) op.max_value = static_cast<double>(high);
  return same_shape(call, op);
}

// Before set 13 everything from the axis on was one dimension.
OnnxValue softmax(const OnnxCall& call) {
  const OnnxValue& value = call.value(0);
  const std::int64_t rank = std::ssize(value.shape) + 1;
  const std::int64_t axis = call.integer("axis", call.opset < 13 ? 1 : -1);
  const bool is_features = call.network.shape_of(value.node).size() == 1;
  if (!is_features || (axis != 1 && axis != 1 - rank)) {
    call.refuse("expected it over the features of [N, F]");
  }
  return same_shape(call, Softmax{});
}

OnnxValue dropout(const OnnxCall& call) {
  if (call.has(2) && call.floats(2, 1)[0] != 0) {
    call.refuse("training_mode is true, expected false");
  }
  return call.padded_value(0);
}

OnnxValue joined(const OnnxCall& call, Op op) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) names.push_back(call.value(i).node);
  if (names.size() == 1) return call.value(0);
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (call.inputs[i].shape.size() == call.inputs[0].shape.size()) continue;
    call.refuse("its inputs have different numbers of dimensions");
  }
  OnnxValue result = call.result(call.network.add(call.name(), std::move(op), names));
  // The graph leaves out pooled positions of size 1.
  result.shape.resize(call.inputs[0].shape.size(), 1);
  return result;
}

OnnxValue sum(const OnnxCall& call) {
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    if (call.value(i).shape == call.value(0).shape) continue;
    call.refuse("its inputs have the shapes ", to_string(call.value(0).shape), " and ",
                to_string(call.value(i).shape), ", expected equal ones");
  }
  return joined(call, Add{});
}

bool is_network(const OnnxCall& call, std::size_t i) {
  return call.inputs[i].kind == OnnxValue::Kind::network;
}

// x op c or c op x for a constant c of one value for each channel, as y = scale x + shift.
OnnxValue with_constant(const OnnxCall& call, char op) {
  const std::size_t at = is_network(call, 0) ? 0 : 1;
  const OnnxValue& value = call.value(at);
  std::vector<float> scale = channel_constant(call, 1 - at, value.shape);
  std::vector<float> shift(scale.size(), 0.0F);
  if (op == '+' || op == '-') shift = std::exchange(scale, std::vector<float>(scale.size(), 1.0F));
  if (op == '-') {
    for (float& x : at == 0 ? shift : scale) x = -x;
  }
  if (op == '/') {
    if (at == 1) call.refuse("divides a constant by a value of the network");
    for (float& x : scale) x = 1 / x;
  }
  OnnxValue result = value;
  result.node =
      call.network.scale_and_shift(call.name(), value.node, value.is_read_once, scale, shift);
  return result;
}

OnnxValue add(const OnnxCall& call) {
  if (is_network(call, 0) && is_network(call, 1)) return sum(call);
  return with_constant(call, '+');
}

template <char kOp>
OnnxValue constant_only(const OnnxCall& call) {
  if (is_network(call, 0) && is_network(call, 1)) {
    call.refuse("both inputs are values of the network, expected a constant");
  }
  return with_constant(call, kOp);
}

OnnxValue concat(const OnnxCall& call) {
  const std::int64_t rank = std::ssize(call.value(0).shape) + 1;
  const std::int64_t axis = call.integer("axis", 1);
  if (axis != 1 && axis != 1 - rank) call.refuse("axis ", axis, ", expected channels (1)");
  return joined(call, Concat{});
}

OnnxValue concat_any(const OnnxCall& call) {
  const auto is_known = [](const OnnxValue& value) {
    return value.kind == OnnxValue::Kind::numbers;
  };
  if (!std::all_of(call.inputs.begin(), call.inputs.end(), is_known)) return concat(call);
  std::vector<ShapeNumber> all;
  for (const OnnxValue& value : call.inputs) {
    all.insert(all.end(), value.numbers.begin(), value.numbers.end());
  }
  return numbers_value(std::move(all));
}

}  // namespace

const std::vector<OnnxOperator>& layer_operators() {
  static const std::vector<OnnxOperator> operators = {
      {"Conv",
       convolution,
       {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"},
       2,
       3},
      {"Gemm", gemm, {"alpha", "beta", "transA", "transB"}, 2, 3},
      {"MatMul", mat_mul, {}, 2, 2},
      {"BatchNormalization",
       batch_normalization,
       {"epsilon", "momentum", "spatial", "training_mode"},
       5,
       5},
      {"Relu", relu, {}},
      {"Clip", clip, {"min", "max"}, 1, 3},
      {"Softmax", softmax, {"axis"}},
      {"Dropout", dropout, {"ratio", "seed"}, 1, 3},
      {"Add", add, {}, 2, 2},
      {"Sum", sum, {}, 1, 1000},
      {"Sub", constant_only<'-'>, {}, 2, 2},
      {"Mul", constant_only<'*'>, {}, 2, 2},
      {"Div", constant_only<'/'>, {}, 2, 2},
      {"Concat", concat_any, {"axis"}, 1, 1000},
  };
  return operators;
}

}  // namespace winnow
