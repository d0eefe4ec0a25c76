#include "import/onnx_call.h"

#include <algorithm>
#include <utility>

#include "runtime/base/suggest.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostNumbers = 64;

bool is_integer(DataType type) {
  return type == DataType::i64 || type == DataType::i32;
}

std::vector<ShapeNumber> numbers_of(const Tensor& tensor) {
  std::vector<ShapeNumber> numbers;
  if (tensor.type() == DataType::i64) {
    for (const std::int64_t value : tensor.values<std::int64_t>())
      numbers.push_back({value, false});
  } else {
    for (const std::int32_t value : tensor.values<std::int32_t>())
      numbers.push_back({value, false});
  }
  return numbers;
}

}  // namespace

OnnxValue numbers_value(std::vector<ShapeNumber> numbers, bool is_single) {
  OnnxValue value;
  value.kind = OnnxValue::Kind::numbers;
  value.numbers = std::move(numbers);
  value.is_single = is_single;
  return value;
}

OnnxValue constant_value(Tensor tensor) {
  const bool is_short = tensor.shape().size() <= 1 && tensor.count() <= kMostNumbers;
  if (is_integer(tensor.type()) && is_short) {
    return numbers_value(numbers_of(tensor), tensor.shape().empty());
  }
  OnnxValue value;
  value.kind = OnnxValue::Kind::constant;
  value.constant = std::make_shared<const Tensor>(std::move(tensor));
  return value;
}

bool OnnxCall::has(std::size_t i) const {
  return i < inputs.size() && inputs[i].kind != OnnxValue::Kind::missing;
}

const OnnxValue& OnnxCall::padded_value(std::size_t i) const {
  if (has(i) && inputs[i].kind == OnnxValue::Kind::network) return inputs[i];
  refuse("its input ", i, " is ", has(i) ? "a constant" : "missing",
         ", expected a value of the network");
}

const OnnxValue& OnnxCall::value(std::size_t i) const {
  const OnnxValue& found = padded_value(i);
  if (found.is_padded()) {
    refuse("its input ", i, " is padded by a Pad, expected that only of Conv and AveragePool");
  }
  return found;
}

Tensor OnnxCall::constant(std::size_t i) const {
  if (has(i) && inputs[i].kind == OnnxValue::Kind::constant) return *inputs[i].constant;
  if (has(i) && inputs[i].kind == OnnxValue::Kind::numbers) {
    const std::vector<std::int64_t> values = integers(i);
    const Shape shape = inputs[i].is_single ? Shape{} : Shape{std::ssize(values)};
    return Tensor::from<std::int64_t>(shape, values);
  }
  refuse("its input ", i, " is ", has(i) ? "computed by the network" : "missing",
         ", expected a constant");
}

std::vector<float> OnnxCall::floats(std::size_t i, std::size_t count) const {
  std::vector<float> values = to_floats(constant(i));
  if (values.size() != count) {
    refuse("its input ", i, " has ", values.size(), " values, expected ", count);
  }
  return values;
}

float OnnxCall::number(std::size_t i, float if_missing) const {
  return has(i) ? floats(i, 1)[0] : if_missing;
}

std::vector<ShapeNumber> OnnxCall::numbers(std::size_t i) const {
  if (has(i) && inputs[i].kind == OnnxValue::Kind::numbers) return inputs[i].numbers;
  refuse("its input ", i, " is not known, expected a list of whole numbers");
}

std::vector<std::int64_t> OnnxCall::integers(std::size_t i) const {
  std::vector<std::int64_t> values;
  for (const ShapeNumber& number : numbers(i)) {
    if (number.is_batch) refuse("its input ", i, " depends on the batch size");
    values.push_back(number.value);
  }
  return values;
}

const OnnxAttribute* OnnxCall::find(const char* attribute, OnnxAttribute::Kind kind) const {
  const auto found = node.attributes.find(attribute);
  if (found == node.attributes.end()) return nullptr;
  if (found->second.kind != kind) refuse("its attribute '", attribute, "' has another type");
  return &found->second;
}

std::int64_t OnnxCall::integer(const char* attribute, std::int64_t if_missing) const {
  const auto* found = find(attribute, OnnxAttribute::Kind::integer);
  return found ? found->integer : if_missing;
}

float OnnxCall::real(const char* attribute, float if_missing) const {
  const auto* found = find(attribute, OnnxAttribute::Kind::real);
  return found ? found->real : if_missing;
}

std::string OnnxCall::text(const char* attribute, const char* if_missing) const {
  const auto* found = find(attribute, OnnxAttribute::Kind::text);
  return found ? found->text : if_missing;
}

std::optional<std::vector<std::int64_t>> OnnxCall::list(const char* attribute) const {
  const auto* found = find(attribute, OnnxAttribute::Kind::integers);
  return found ? std::optional(found->integers) : std::nullopt;
}

std::string OnnxCall::name(std::size_t weight_input) const {
  constexpr std::string_view kEnding = ".weight";
  if (weight_input < constant_names.size() && constant_names[weight_input].ends_with(kEnding)) {
    const std::string& weight = constant_names[weight_input];
    return weight.substr(0, weight.size() - kEnding.size());
  }
  const std::string& own = node.name.empty() ? node.outputs.at(0) : node.name;
  return own.starts_with('/') ? own.substr(1) : own;
}

OnnxValue OnnxCall::result(const std::string& made) const {
  OnnxValue value;
  value.kind = OnnxValue::Kind::network;
  value.node = made;
  value.shape = network.shape_of(made);
  return value;
}

OnnxValue OnnxCall::add(Op op, const std::string& from) const {
  return result(network.add(name(), std::move(op), {from}));
}

}  // namespace winnow
