// Layers in which several outputs read the same inputs.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/challenge/network.h"

namespace winnow::challenge {

struct SharedLayerOptions {
  std::uint32_t inputs = 40;
  std::uint32_t outputs = 40;
  std::uint32_t sharing = 16;  // so many outputs have the same inputs, those of random places
  std::uint32_t connections = 8;
  float weight_unit = 0.5f;  // weights are multiples, of either sign
  float bias = -0.5f;
  std::uint64_t seed = 1;
};

inline constexpr std::uint32_t kMostWeightUnits = 4;

SparseLayer shared_layer(const SharedLayerOptions& options);

// Layers of `options` from each of `widths` to the next.
MemoryNetwork shared_network(const std::vector<std::uint32_t>& widths, SharedLayerOptions options);

// As in the challenge's networks: neuron i is in class i mod (neurons / 16), and output j reads the
// classes of j and, in layer l, of j + 2^l. So a group's inputs are two whole groups of the layer
// before. `options`: unit, bias and seed only.
MemoryNetwork class_network(std::uint32_t neurons, std::uint32_t layers,
                            const SharedLayerOptions& options);

}  // namespace winnow::challenge
