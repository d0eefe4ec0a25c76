// How a network is cut into launches of several layers each. Pure host code.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/challenge/engine.h"

namespace winnow::challenge {

// Layers [first, last) in one launch, activations as fp16 or fp32.
struct FusedPhase {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool is_half = false;

  friend bool operator==(const FusedPhase&, const FusedPhase&) = default;
};

// The layers that keep fp32 before activations may be stored as fp16: log2(neurons / 16), at least
// 6. In the challenge's networks that is the first block, in which an image's fate is decided;
// rounding to fp16 there changes a few categories, after it none (measured on all four sizes).
std::uint32_t full_precision_layers(std::uint32_t neurons);

// The first layer that stores fp16 by `options`; `layers` if none does.
std::uint32_t first_half_layer(const EngineOptions& options, std::uint32_t neurons,
                               std::uint32_t layers);

// Dead images are dropped between phases. Most of them die in the first layers, so phases get
// longer as they go on: borders lie at layers 2 to 8, 10, 12, 16, 24, 32, 48, ... and where fp16
// begins (`half_from`, which may be >= layers: never).
std::vector<FusedPhase> plan_fused_phases(std::uint32_t layers, std::uint32_t half_from);

// Whether dead images are dropped after layer l where every layer is a launch: a row costs far more
// to compute than to move, so after each of the first layers, then ever more rarely.
bool drops_after(std::uint32_t l, std::uint32_t layers, std::uint32_t half_from);

}  // namespace winnow::challenge
