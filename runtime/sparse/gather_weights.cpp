#include "runtime/sparse/gather_weights.h"
#include "runtime/sparse/lane_order.h"

#include <vector_functions.h>

#include <algorithm>
#include <array>

namespace winnow {
namespace {

constexpr std::uint32_t kMostNarrow = 65536;

std::uint32_t steps_of(const SparseLayer& layer, std::uint32_t output) {
  return (layer.row_begin[output + 1] - layer.row_begin[output] + kStep - 1) / kStep;
}

// The connections from k on, up to `end`.
struct Step {
  std::array<std::uint32_t, kStep> input{};
  std::array<float, kStep> value{};
};

Step step_at(const SparseLayer& layer, std::uint32_t k, std::uint32_t end) {
  Step step;
  step.input.fill(layer.input[k]);
  for (std::uint32_t i = 0; i < kStep && k + i < end; ++i) {
    step.input[i] = layer.input[k + i];
    step.value[i] = layer.value[k + i];
  }
  return step;
}

}  // namespace

GatherLayout::GatherLayout(const SparseLayer& layer)
    : inputs_(layer.inputs), outputs_(layer.outputs()), is_narrow_(layer.inputs <= kMostNarrow) {
  for (std::uint32_t j = 0; j < outputs_; ++j) input_at_ += steps_of(layer, j);
  begin_at_ = input_at_ + (is_narrow_ ? (input_at_ + 1) / 2 : input_at_);
  bias_at_ = begin_at_ + (std::size_t{outputs_} + 1 + 3) / 4;
  output_at_ = bias_at_ + (std::size_t{outputs_} + 3) / 4;
}

GatherView GatherLayout::view(const uint4* piece) const {
  const uint4* input = piece + input_at_;
  return {.inputs = inputs_,
          .outputs = outputs_,
          .begin = reinterpret_cast<const std::uint32_t*>(piece + begin_at_),
          .narrow = is_narrow_ ? reinterpret_cast<const uint2*>(input) : nullptr,
          .wide = is_narrow_ ? nullptr : input,
          .value = reinterpret_cast<const float4*>(piece),
          .bias = reinterpret_cast<const float*>(piece + bias_at_),
          .output = reinterpret_cast<const std::uint32_t*>(piece + output_at_)};
}

std::vector<uint4> pack_for_gather(const SparseLayer& layer, const GatherLayout& layout,
                                   std::span<const std::uint32_t> order) {
  std::vector<uint4> piece(layout.size());
  const GatherView to = layout.view(piece.data());  // of memory that is ours to write
  auto* value = const_cast<float4*>(to.value);
  auto* narrow = const_cast<uint2*>(to.narrow);
  auto* wide = const_cast<uint4*>(to.wide);
  auto* begin = const_cast<std::uint32_t*>(to.begin);
  auto* bias = const_cast<float*>(to.bias);
  auto* output = const_cast<std::uint32_t*>(to.output);
  std::uint32_t at = 0;
  for (std::uint32_t p = 0; p < layer.outputs(); ++p) {
    const std::uint32_t j = order.empty() ? p : order[p];
    begin[p] = at;
    bias[p] = layer.bias[j];
    output[p] = j;
    for (std::uint32_t k = layer.row_begin[j]; k < layer.row_begin[j + 1]; k += kStep, ++at) {
      const Step step = step_at(layer, k, layer.row_begin[j + 1]);
      const auto& in = step.input;
      value[at] = make_float4(step.value[0], step.value[1], step.value[2], step.value[3]);
      if (wide == nullptr) {
        narrow[at] = make_uint2(in[0] | in[1] << 16, in[2] | in[3] << 16);
      } else {
        wide[at] = make_uint4(in[0], in[1], in[2], in[3]);
      }
    }
  }
  begin[layer.outputs()] = at;
  return piece;
}

}  // namespace winnow
