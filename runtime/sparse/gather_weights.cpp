#include "runtime/sparse/gather_weights.h"
#include "runtime/sparse/lane_order.h"

#include <vector_functions.h>

#include <algorithm>
#include <array>

namespace winnow {
namespace {

constexpr std::uint32_t kMostNarrow = 65536;

std::uint32_t output_at(const GatherOrder& order, std::uint32_t place) {
  return order.output.empty() ? place : order.output[place];
}

std::uint32_t steps_of(const SparseLayer& layer, std::uint32_t output) {
  return (layer.row_begin[output + 1] - layer.row_begin[output] + kStep - 1) / kStep;
}

// Writes the units of a layer to a piece, whose pointers are of memory that is ours to write.
class Packer {
 public:
  Packer(const SparseLayer& layer, const GatherView& to) : layer_(layer), to_(to) {}

  // The unit of so many outputs whose first is at a place.
  void add_unit(std::uint32_t place, std::uint32_t outputs, const GatherOrder& order) {
    mine(to_.begin)[unit_++] = step_;
    for (std::uint32_t o = 0; o < outputs; ++o) {
      const std::uint32_t j = output_at(order, place + o);
      mine(to_.bias)[place + o] = layer_.bias[j];
      mine(to_.output)[place + o] = j;
    }
    const std::uint32_t first = output_at(order, place);
    for (std::uint32_t i = 0; i < steps_of(layer_, first); ++i, ++step_) {
      const std::uint32_t k = layer_.row_begin[first] + i * kStep;
      add_inputs(k, layer_.row_begin[first + 1]);
      if (outputs == 1) {
        mine(to_.single_value)[step_] = values_of(first, i);
      } else {
        add_quad_values(place, i, order);
      }
    }
    mine(to_.begin)[unit_] = step_;
  }

 private:
  template <typename T>
  static T* mine(const T* pointer) {
    return const_cast<T*>(pointer);
  }

  // Of the step whose first connection is k; beyond `end` the first one again.
  void add_inputs(std::uint32_t k, std::uint32_t end) {
    std::array<std::uint32_t, kStep> in{};
    for (std::uint32_t c = 0; c < kStep; ++c) in[c] = layer_.input[k + c < end ? k + c : k];
    if (to_.wide == nullptr) {
      mine(to_.narrow)[step_] = make_uint2(in[0] | in[1] << 16, in[2] | in[3] << 16);
    } else {
      mine(to_.wide)[step_] = make_uint4(in[0], in[1], in[2], in[3]);
    }
  }

  // Of an output's i-th step.
  float4 values_of(std::uint32_t output, std::uint32_t i) const {
    std::array<float, kStep> value{};
    const std::uint32_t k = layer_.row_begin[output] + i * kStep;
    for (std::uint32_t c = 0; c < kStep && k + c < layer_.row_begin[output + 1]; ++c) {
      value[c] = layer_.value[k + c];
    }
    return make_float4(value[0], value[1], value[2], value[3]);
  }

  void add_quad_values(std::uint32_t place, std::uint32_t i, const GatherOrder& order) {
    float4 of[kQuad];
    for (std::uint32_t o = 0; o < kQuad; ++o) of[o] = values_of(output_at(order, place + o), i);
    float4* const to = mine(to_.quad_value) + std::size_t{step_} * kStep;
    to[0] = make_float4(of[0].x, of[1].x, of[2].x, of[3].x);
    to[1] = make_float4(of[0].y, of[1].y, of[2].y, of[3].y);
    to[2] = make_float4(of[0].z, of[1].z, of[2].z, of[3].z);
    to[3] = make_float4(of[0].w, of[1].w, of[2].w, of[3].w);
  }

  const SparseLayer& layer_;
  const GatherView& to_;
  std::uint32_t unit_ = 0, step_ = 0;
};

}  // namespace

GatherLayout::GatherLayout(const SparseLayer& layer, const GatherOrder& order)
    : inputs_(layer.inputs),
      outputs_(layer.outputs()),
      quads_(order.quads),
      is_narrow_(layer.inputs <= kMostNarrow) {
  for (std::uint32_t q = 0; q < quads_; ++q) {
    quad_steps_ += steps_of(layer, output_at(order, q * kQuad));
  }
  std::size_t steps = quad_steps_;
  for (std::uint32_t p = quads_ * kQuad; p < outputs_; ++p) {
    steps += steps_of(layer, output_at(order, p));
  }
  input_at_ = steps + (kQuad - 1) * quad_steps_;
  begin_at_ = input_at_ + (is_narrow_ ? (steps + 1) / 2 : steps);
  const std::size_t units = outputs_ - (kQuad - 1) * std::size_t{quads_};
  bias_at_ = begin_at_ + (units + 1 + 3) / 4;
  output_at_ = bias_at_ + (std::size_t{outputs_} + 3) / 4;
}

GatherView GatherLayout::view(const uint4* piece) const {
  const uint4* input = piece + input_at_;
  const auto* value = reinterpret_cast<const float4*>(piece);
  return {.inputs = inputs_,
          .outputs = outputs_,
          .quads = quads_,
          .begin = reinterpret_cast<const std::uint32_t*>(piece + begin_at_),
          .narrow = is_narrow_ ? reinterpret_cast<const uint2*>(input) : nullptr,
          .wide = is_narrow_ ? nullptr : input,
          .quad_value = value,
          .single_value = value + (kQuad - 1) * quad_steps_,
          .bias = reinterpret_cast<const float*>(piece + bias_at_),
          .output = reinterpret_cast<const std::uint32_t*>(piece + output_at_)};
}

std::vector<uint4> pack_for_gather(const SparseLayer& layer, const GatherLayout& layout,
                                   const GatherOrder& order) {
  std::vector<uint4> piece(layout.size());
  const GatherView view = layout.view(piece.data());
  Packer packer(layer, view);
  std::uint32_t place = 0;
  for (; place < view.quads * kQuad; place += kQuad) packer.add_unit(place, kQuad, order);
  for (; place < view.outputs; ++place) packer.add_unit(place, 1, order);
  return piece;
}

}  // namespace winnow
