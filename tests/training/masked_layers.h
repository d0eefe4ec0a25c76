// Layers whose masks keep all, for tests.
#pragma once

#include "prune/training/masks/masked_layer.h"

namespace winnow {

inline MaskedLayer layer_of(const torch::Tensor& weight, std::int64_t vector) {
  return MaskedLayer::whole("layer", vector, weight, torch::zeros_like(weight));
}

}  // namespace winnow
