// The tensors that make up one node's weight in a checkpoint, and its mask.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/model/model.h"

namespace winnow {

// Either `dense` or `codes` is set; with codes either `scale` or `codebook`, which may come with
// `channel_scale`.
struct WeightParts {
  std::string name;  // "conv1.weight"
  Shape shape;
  const Tensor* dense = nullptr;          // f32
  const Tensor* codes = nullptr;          // i16 or i8 with scale, u8 with codebook
  const Tensor* scale = nullptr;          // f32 [1]
  const Tensor* codebook = nullptr;       // f16 [entries], entry 0 is 0
  const Tensor* channel_scale = nullptr;  // f16 [K], may be missing
  const Tensor* mask = nullptr;           // u8 0 or 1, may be missing
  int vector = 1;                         // channels that share a block of the mask

  const Tensor& stored() const { return dense ? *dense : *codes; }
};

// True for nodes whose weights prune and quantize handle: conv and linear.
bool has_prunable_weight(const Node& node);

// The parts of the weight of `node`, which has one, checked against each other: shapes, types,
// codes, mask. Whether masked weights are 0 is not checked. Throws Error{bad_file}; `place` begins
// the message.
WeightParts weight_parts(const Model& model, const Node& node, const std::string& place);

// Calls visit(index) for every element of the weight whose block of the mask is 0, in rising order.
// Requires a mask.
template <typename Visit>
void for_each_masked(const WeightParts& parts, Visit visit) {
  const auto mask = parts.mask->values<std::uint8_t>();
  const auto channels = static_cast<std::size_t>(parts.shape[0]);
  const std::size_t inner = static_cast<std::size_t>(element_count(parts.shape)) / channels;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const std::size_t row = channel / static_cast<std::size_t>(parts.vector);
    for (std::size_t i = 0; i < inner; ++i) {
      if (mask[row * inner + i] == 0) visit(channel * inner + i);
    }
  }
}

}  // namespace winnow
