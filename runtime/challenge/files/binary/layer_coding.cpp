#include "runtime/challenge/files/binary/layer_coding.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/challenge/files/file_limits.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kKnownForms = kEqualRows | kEqualBiases | kEqualValues | kShortInputs;
constexpr std::uint32_t kShortRange = 65536;

std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

// By their bits, so that -0 stays -0.
bool are_equal(const std::vector<float>& values) {
  return std::ranges::all_of(values, [&](float v) { return bits(v) == bits(values.front()); });
}

bool are_equally_long(const SparseLayer& layer) {
  const std::uint32_t length = layer.row_begin[1];
  for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
    if (layer.row_begin[j + 1] - layer.row_begin[j] != length) return false;
  }
  return true;
}

LayerFacts facts_of(const SparseLayer& layer) {
  LayerFacts facts{
      .inputs = layer.inputs, .outputs = layer.outputs(), .connections = layer.connections()};
  if (are_equally_long(layer)) {
    facts.form |= kEqualRows;
    facts.row_length = layer.row_begin[1];
  }
  if (are_equal(layer.bias)) {
    facts.form |= kEqualBiases;
    facts.bias = layer.bias.front();
  }
  if (are_equal(layer.value)) {
    facts.form |= kEqualValues;
    facts.value = layer.value.empty() ? 0 : layer.value.front();
  }
  if (layer.inputs <= kShortRange) facts.form |= kShortInputs;
  return facts;
}

// The lengths of the arrays in bytes, in their order: row bounds, biases, weights, inputs.
std::array<std::uint64_t, 4> array_bytes(const LayerFacts& facts) {
  const std::uint64_t outputs = facts.outputs, connections = facts.connections;
  return {facts.form & kEqualRows ? 0 : 4 * (outputs + 1),
          facts.form & kEqualBiases ? 0 : 4 * outputs,
          facts.form & kEqualValues ? 0 : 4 * connections,
          (facts.form & kShortInputs ? 2 : 4) * connections};
}

template <typename T>
void copy(Bytes bytes, std::vector<T>& values) {
  values.resize(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
}

void widen(Bytes bytes, std::vector<std::uint32_t>& values) {
  values.resize(bytes.size() / 2);
  for (std::size_t k = 0; k < values.size(); ++k) {
    std::uint16_t value;
    std::memcpy(&value, bytes.data() + 2 * k, 2);
    values[k] = value;
  }
}

void set_equal_bounds(const LayerFacts& facts, std::vector<std::uint32_t>& begin) {
  begin.resize(std::size_t{facts.outputs} + 1);
  for (std::uint32_t j = 0; j <= facts.outputs; ++j) begin[j] = j * facts.row_length;
}

}  // namespace

LayerFacts unpack(const PartFacts& facts) {
  const auto& w = facts.words;
  return {
      facts.form, w[0], w[1], w[2], w[3], std::bit_cast<float>(w[4]), std::bit_cast<float>(w[5])};
}

std::string find_defect(const LayerFacts& facts, std::uint64_t bytes) {
  const bool has_equal_rows = facts.form & kEqualRows;
  const std::uint64_t in_equal_rows = std::uint64_t{facts.outputs} * facts.row_length;
  if ((facts.form & ~kKnownForms) != 0) return "its form is not known";
  if (facts.inputs == 0 || facts.inputs > kMostNeurons || facts.outputs == 0 ||
      facts.outputs > kMostNeurons) {
    return "a number of neurons is out of range";
  }
  if (has_equal_rows ? in_equal_rows != facts.connections : facts.row_length != 0) {
    return "its row length does not give its connections";
  }
  if (!std::isfinite(facts.bias) || !std::isfinite(facts.value)) return "a number is not finite";
  if ((!(facts.form & kEqualBiases) && bits(facts.bias) != 0) ||
      (!(facts.form & kEqualValues) && bits(facts.value) != 0)) {
    return "it has a constant beside an array";
  }
  const std::uint64_t expected = part_bytes(array_bytes(facts));
  if (bytes != expected) {
    return "found " + std::to_string(bytes) + " bytes, expected " + std::to_string(expected);
  }
  return "";
}

EncodedLayer::EncodedLayer(const SparseLayer& layer) : facts_(facts_of(layer)) {
  arrays_.assign(4, {});
  if (!(facts_.form & kEqualRows)) arrays_[0] = std::as_bytes(std::span(layer.row_begin));
  if (!(facts_.form & kEqualBiases)) arrays_[1] = std::as_bytes(std::span(layer.bias));
  if (!(facts_.form & kEqualValues)) arrays_[2] = std::as_bytes(std::span(layer.value));
  if (facts_.form & kShortInputs) {
    short_inputs_.assign(layer.input.begin(), layer.input.end());
    arrays_[3] = std::as_bytes(std::span(short_inputs_));
  } else {
    arrays_[3] = std::as_bytes(std::span(layer.input));
  }
}

PartFacts EncodedLayer::facts() const {
  return {facts_.form,
          {facts_.inputs, facts_.outputs, facts_.connections, facts_.row_length, bits(facts_.bias),
           bits(facts_.value)}};
}

void decode_layer(const LayerFacts& facts, Bytes part, const std::string& place,
                  SparseLayer& layer) {
  const auto lengths = array_bytes(facts);
  ArrayReader arrays(part, place);
  const Bytes bounds = arrays.take(lengths[0]), biases = arrays.take(lengths[1]);
  const Bytes values = arrays.take(lengths[2]), inputs = arrays.take(lengths[3]);
  layer.inputs = facts.inputs;
  if (facts.form & kEqualRows) {
    set_equal_bounds(facts, layer.row_begin);
  } else {
    copy(bounds, layer.row_begin);
  }
  if (facts.form & kShortInputs) {
    widen(inputs, layer.input);
  } else {
    copy(inputs, layer.input);
  }
  const auto read_floats = [&](std::uint32_t form, float constant, std::uint32_t count, Bytes array,
                               std::vector<float>& to) {
    if (facts.form & form) {
      to.assign(count, constant);
    } else {
      copy(array, to);
    }
  };
  read_floats(kEqualValues, facts.value, facts.connections, values, layer.value);
  read_floats(kEqualBiases, facts.bias, facts.outputs, biases, layer.bias);
}

}  // namespace winnow::challenge
