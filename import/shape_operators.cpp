// Constants, arithmetic of shapes, and what moves values without computing anything.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "import/operator_table.h"

namespace winnow {
namespace {

using Kind = OnnxValue::Kind;

bool is_known(const OnnxCall& call, std::size_t i) {
  return call.has(i) && call.inputs[i].kind != Kind::network;
}

bool is_list(const OnnxCall& call, std::size_t i) {
  return call.has(i) && call.inputs[i].kind == Kind::numbers;
}

OnnxValue identity(const OnnxCall& call) {
  return call.inputs.at(0);
}

OnnxValue constant(const OnnxCall& call) {
  const auto& attributes = call.node.attributes;
  if (attributes.size() != 1) {
    call.refuse("found ", attributes.size(), " attributes, expected one with the value");
  }
  const OnnxAttribute& value = attributes.begin()->second;
  switch (value.kind) {
    case OnnxAttribute::Kind::tensor:
      return constant_value(value.tensor);
    case OnnxAttribute::Kind::real:
      return constant_value(Tensor::from<float>({}, std::span(&value.real, 1)));
    case OnnxAttribute::Kind::reals:
      return constant_value(Tensor::from<float>({std::ssize(value.reals)}, value.reals));
    case OnnxAttribute::Kind::integer:
      return numbers_value({{value.integer, false}}, true);
    case OnnxAttribute::Kind::integers:
      return constant_value(
          Tensor::from<std::int64_t>({std::ssize(value.integers)}, value.integers));
    default:
      call.refuse("its value is neither numbers nor a tensor");
  }
}

// As many as the largest layers have; a file of few bytes must not ask for all memory.
constexpr std::int64_t kMostFilled = 1 << 28;

OnnxValue constant_of_shape(const OnnxCall& call) {
  const Shape shape = call.integers(0);
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    const bool overflows = size < 0 || __builtin_mul_overflow(count, size, &count);
    if (overflows || count > kMostFilled) {
      call.refuse("asks for more than ", kMostFilled, " values or for a negative size");
    }
  }
  const auto found = call.node.attributes.find("value");
  if (found == call.node.attributes.end()) return constant_value(Tensor(DataType::f32, shape));
  const Tensor& value = found->second.tensor;
  if (found->second.kind != OnnxAttribute::Kind::tensor || value.count() != 1) {
    call.refuse("its attribute 'value' is no tensor of one value");
  }
  Tensor filled(value.type(), shape);
  for (std::size_t i = 0; i < filled.bytes().size(); i += value.bytes().size()) {
    std::copy(value.bytes().begin(), value.bytes().end(),
              filled.bytes().begin() + static_cast<std::ptrdiff_t>(i));
  }
  return constant_value(std::move(filled));
}

OnnxValue shape_of(const OnnxCall& call) {
  std::vector<ShapeNumber> numbers;
  if (is_known(call, 0)) {
    const Tensor tensor = call.constant(0);
    for (const std::int64_t size : tensor.shape()) numbers.push_back({size, false});
  } else {
    const OnnxValue& value = call.value(0);
    numbers.push_back({0, true});
    for (const std::int64_t size : value.shape) numbers.push_back({size, false});
  }
  const auto count = std::ssize(numbers);
  const auto place = [count](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + count : at, 0, count);
  };
  const std::int64_t start = place(call.integer("start", 0));
  const std::int64_t end = place(call.integer("end", count));
  if (start > end) call.refuse("its start lies behind its end");
  return numbers_value({numbers.begin() + start, numbers.begin() + end});
}

OnnxValue gather(const OnnxCall& call) {
  if (call.integer("axis", 0) != 0) call.refuse("its axis is not 0");
  const std::vector<ShapeNumber> numbers = call.numbers(0);
  std::vector<ShapeNumber> taken;
  for (std::int64_t at : call.integers(1)) {
    if (at < 0) at += std::ssize(numbers);
    if (at < 0 || at >= std::ssize(numbers)) {
      call.refuse("takes number ", at, " of ", numbers.size());
    }
    taken.push_back(numbers[static_cast<std::size_t>(at)]);
  }
  return numbers_value(std::move(taken), call.inputs[1].is_single);
}

// Starts, ends, axes and steps of one dimension.
OnnxValue slice(const OnnxCall& call) {
  const std::vector<ShapeNumber> numbers = call.numbers(0);
  const auto one = [&](std::size_t i, std::int64_t if_missing) {
    const auto list = call.has(i) ? call.integers(i) : std::vector{if_missing};
    return list.size() == 1 ? list[0] : (call.refuse("slices more than one dimension"), 0);
  };
  const auto count = std::ssize(numbers);
  const auto place = [count](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + count : at, 0, count);
  };
  const std::int64_t start = place(one(1, 0));
  const std::int64_t end = place(one(2, 0));
  if (one(3, 0) != 0 || one(4, 1) != 1 || start > end) {
    call.refuse("expected a slice of a list with step 1");
  }
  return numbers_value({numbers.begin() + start, numbers.begin() + end});
}

// Numbers keep their values; of constants only those of real numbers can follow.
OnnxValue cast(const OnnxCall& call) {
  constexpr std::int64_t kFloat = 1;
  constexpr std::int64_t kInt32 = 6;
  constexpr std::int64_t kInt64 = 7;
  const std::int64_t to = call.integer("to", 0);
  if (is_list(call, 0) && (to == kInt32 || to == kInt64)) return call.inputs[0];
  if (!is_known(call, 0) || to != kFloat) {
    call.refuse("expected whole numbers, or a constant that becomes float");
  }
  const Tensor tensor = call.constant(0);
  return constant_value(Tensor::from<float>(tensor.shape(), to_floats(tensor)));
}

// The axes of a Squeeze or Unsqueeze, in order, of a value with `rank` dimensions; an attribute
// before set 13.
std::vector<std::int64_t> axes_of(const OnnxCall& call, std::int64_t rank) {
  std::vector<std::int64_t> axes =
      call.has(1) ? call.integers(1) : call.list("axes").value_or(std::vector<std::int64_t>{});
  for (std::int64_t& axis : axes) {
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank) call.refuse("an axis lies outside the ", rank, " dimensions");
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

Shape without_axes(const OnnxCall& call, const Shape& shape) {
  const std::vector<std::int64_t> axes = axes_of(call, std::ssize(shape));
  if (axes.empty()) call.refuse("its axes are missing");
  Shape rest;
  for (std::int64_t d = 0; d < std::ssize(shape); ++d) {
    const std::int64_t size = shape[static_cast<std::size_t>(d)];
    const bool goes = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (goes && size != 1) call.refuse("squeezes dimension ", d, " of size ", size);
    if (!goes) rest.push_back(size);
  }
  return rest;
}

Shape with_axes(const OnnxCall& call, Shape shape) {
  const auto added = call.has(1) ? call.integers(1) : call.list("axes").value_or(Shape{});
  constexpr std::size_t kMostAdded = 8;
  if (added.empty() || added.size() > kMostAdded) call.refuse("its axes are missing or too many");
  for (const std::int64_t axis : axes_of(call, std::ssize(shape) + std::ssize(added))) {
    if (axis > std::ssize(shape)) call.refuse("one of its axes comes twice");
    shape.insert(shape.begin() + axis, 1);
  }
  return shape;
}

// Shapes of values of the network with the batch in front, which stays where it is.
constexpr std::int64_t kBatch = -1;

Shape with_batch(const OnnxValue& value) {
  Shape shape = value.shape;
  shape.insert(shape.begin(), kBatch);
  return shape;
}

OnnxValue without_batch(const OnnxCall& call, const Shape& shape) {
  if (shape.empty() || shape[0] != kBatch) call.refuse("moves the batch dimension");
  return reshaped(call, call.value(0), {shape.begin() + 1, shape.end()});
}

Tensor with_shape(Tensor tensor, const Shape& shape) {
  Tensor result(tensor.type(), shape);
  std::copy(tensor.bytes().begin(), tensor.bytes().end(), result.bytes().begin());
  return result;
}

OnnxValue squeeze(const OnnxCall& call) {
  if (is_list(call, 0)) return numbers_value(call.inputs[0].numbers, true);
  if (!is_known(call, 0)) {
    return without_batch(call, without_axes(call, with_batch(call.value(0))));
  }
  const Tensor tensor = call.constant(0);
  return constant_value(with_shape(tensor, without_axes(call, tensor.shape())));
}

OnnxValue unsqueeze(const OnnxCall& call) {
  if (is_list(call, 0) && call.inputs[0].is_single) return numbers_value(call.inputs[0].numbers);
  if (!is_known(call, 0)) return without_batch(call, with_axes(call, with_batch(call.value(0))));
  const Tensor tensor = call.constant(0);
  return constant_value(with_shape(tensor, with_axes(call, tensor.shape())));
}

// The shape that a Reshape asks for, where `count` values have the shape `now`: 0 keeps a size and
// one -1 takes the rest.
Shape asked_shape(const OnnxCall& call, Shape asked, const Shape& now, std::int64_t count) {
  std::int64_t rest = count;
  std::int64_t* open = nullptr;
  for (std::size_t d = 0; d < asked.size(); ++d) {
    if (asked[d] == 0 && call.integer("allowzero", 0) == 0 && d < now.size()) asked[d] = now[d];
    if (asked[d] == -1 && !open) {
      open = &asked[d];
      continue;
    }
    if (asked[d] < 1 || rest % asked[d] != 0) {
      call.refuse("its shape does not fit ", to_string(now));
    }
    rest /= asked[d];
  }
  if (open) *open = rest;
  if (!open && rest != 1) call.refuse("its shape does not fit ", to_string(now));
  return asked;
}

// Whether `first` stands for the batch in front of a Reshape's shape.
bool keeps_batch(const OnnxCall& call, const ShapeNumber& first, const Shape& rest,
                 std::int64_t count) {
  if (first.is_batch || (first.value == 0 && call.integer("allowzero", 0) == 0)) return true;
  if (call.batch && first.value == *call.batch) return true;
  std::int64_t product = 1;
  for (const std::int64_t size : rest) {
    if (size < 1 || __builtin_mul_overflow(product, size, &product)) return false;
  }
  return first.value == -1 && product == count;
}

// A size that a 0 takes over stands at its own place, which the batch has shifted by one.
OnnxValue reshape_value(const OnnxCall& call) {
  const OnnxValue& value = call.value(0);
  const std::vector<ShapeNumber> asked = call.numbers(1);
  if (asked.empty()) call.refuse("its shape has no dimensions");
  Shape rest;
  for (std::size_t d = 1; d < asked.size(); ++d) {
    if (asked[d].is_batch) call.refuse("moves the batch dimension");
    rest.push_back(asked[d].value);
  }
  const std::int64_t count = element_count(value.shape);
  if (!keeps_batch(call, asked[0], rest, count)) {
    call.refuse("moves values between samples: its shape begins with ", asked[0].value,
                ", expected the batch size");
  }
  return reshaped(call, value, asked_shape(call, rest, value.shape, count));
}

Shape known_shape(const OnnxCall& call, const Tensor& tensor) {
  return asked_shape(call, call.integers(1), tensor.shape(), tensor.count());
}

// Reshape had its shape as an attribute before set 5, which is not read.
OnnxValue reshape(const OnnxCall& call) {
  if (!is_known(call, 0)) return reshape_value(call);
  const Tensor tensor = call.constant(0);
  return constant_value(with_shape(tensor, known_shape(call, tensor)));
}

OnnxValue flatten(const OnnxCall& call) {
  const OnnxValue& value = call.value(0);
  const std::int64_t axis = call.integer("axis", 1);
  const std::int64_t rank = std::ssize(value.shape) + 1;
  if (axis != 1 && axis != 1 - rank) call.refuse("axis ", axis, ", expected 1");
  return reshaped(call, value, {element_count(value.shape)});
}

// Values of the network cannot be transposed, constants with two dimensions can.
OnnxValue transpose(const OnnxCall& call) {
  const std::int64_t rank = is_known(call, 0) ? std::ssize(call.constant(0).shape())
                                              : std::ssize(call.value(0).shape) + 1;
  std::vector<std::int64_t> same(static_cast<std::size_t>(rank));
  std::iota(same.begin(), same.end(), 0);
  const std::vector<std::int64_t> reversed(same.rbegin(), same.rend());
  const std::vector<std::int64_t> order = call.list("perm").value_or(reversed);
  if (order == same) return call.inputs[0];
  if (!is_known(call, 0)) call.refuse("changes the order of dimensions, which the graph cannot");
  const Tensor tensor = call.constant(0);
  if (rank != 2 || order != reversed) call.refuse("expected a constant with two dimensions");
  const auto rows = static_cast<std::size_t>(tensor.shape()[0]);
  const auto columns = static_cast<std::size_t>(tensor.shape()[1]);
  Tensor result(tensor.type(), {tensor.shape()[1], tensor.shape()[0]});
  const std::size_t size = size_of(tensor.type());
  for (std::size_t i = 0; i < rows * columns; ++i) {
    const auto from = tensor.bytes().subspan(i * size, size);
    std::copy(from.begin(), from.end(),
              result.bytes().begin() +
                  static_cast<std::ptrdiff_t>((i % columns * rows + i / columns) * size));
  }
  return constant_value(std::move(result));
}

// Zeros around positions, which the convolution or average pooling that reads them takes over.
OnnxValue pad(const OnnxCall& call) {
  const OnnxValue& value = call.value(0);
  const std::int64_t rank = std::ssize(value.shape) + 1;
  if (call.text("mode", "constant") != "constant") call.refuse("expected the mode 'constant'");
  if (call.number(2, call.real("value", 0)) != 0) call.refuse("pads with other than 0");
  const std::vector<std::int64_t> pads =
      call.has(1) ? call.integers(1) : call.list("pads").value_or(std::vector<std::int64_t>{});
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (call.has(3)) axes = call.integers(3);
  if (pads.size() != 2 * axes.size()) {
    call.refuse("has ", pads.size(), " pads, expected ", 2 * axes.size());
  }
  OnnxValue result = value;
  result.is_read_once = false;
  constexpr std::int64_t kLargest = 1 << 16;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axes[i] + (axes[i] < 0 ? rank : 0);
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      const std::int64_t zeros = pads[side * axes.size() + i];
      if (zeros == 0) continue;
      const bool is_position = axis >= 2 && axis < rank && axis < 4;
      if (!is_position || zeros < 0 || zeros > kLargest) {
        call.refuse("pads axis ", axis, " by ", zeros, ", expected positions and 0 to ", kLargest);
      }
      result.padding[2 * side + static_cast<std::size_t>(axis - 2)] = zeros;
    }
  }
  return result;
}

}  // namespace

OnnxValue reshaped(const OnnxCall& call, const OnnxValue& value, const Shape& shape) {
  OnnxValue result = value;
  result.shape = shape;
  if (shape == value.shape) return result;
  if (shape.empty() || element_count(shape) != element_count(value.shape) ||
      std::any_of(shape.begin() + 1, shape.end(), [](std::int64_t size) { return size != 1; })) {
    call.refuse("reshapes samples of ", to_string(value.shape), " to ", to_string(shape),
                ", expected one dimension, a flatten");
  }
  if (call.network.shape_of(value.node).size() > 1) {
    result = call.add(Flatten{}, value.node);
    result.shape = shape;
  }
  return result;
}

const std::vector<OnnxOperator>& shape_operators() {
  static const std::vector<OnnxOperator> operators = {
      {"Identity", identity, {}},
      {"Constant",
       constant,
       {"value", "value_float", "value_floats", "value_int", "value_ints"},
       0,
       0},
      {"ConstantOfShape", constant_of_shape, {"value"}},
      {"Shape", shape_of, {"start", "end"}},
      {"Gather", gather, {"axis"}, 2, 2},
      {"Slice", slice, {}, 3, 5},
      {"Cast", cast, {"to", "saturate"}},
      {"Squeeze", squeeze, {"axes"}, 1, 2},
      {"Unsqueeze", unsqueeze, {"axes"}, 1, 2},
      {"Reshape", reshape, {"allowzero"}, 2, 2},
      {"Flatten", flatten, {"axis"}},
      {"Transpose", transpose, {"perm"}},
      {"Pad", pad, {"mode", "pads", "value"}, 1, 4},
  };
  return operators;
}

}  // namespace winnow
