// Seeded small networks and images on which every engine is exact.
//
// Weights and biases are multiples of 1/2 and there are at most five layers, so activations are
// multiples of 1/32 up to 32: exact as fp16 and fp32, sums exact in fp32 up to 16384 connections.
// Whether a sum is zero, or an image dead, is therefore no matter of rounding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/challenge/engine.h"
#include "runtime/challenge/images.h"
#include "runtime/challenge/network.h"

namespace winnow::challenge {

struct RandomNetworkOptions {
  std::vector<std::uint32_t> widths;  // inputs of the first layer, then outputs of each
  std::uint64_t seed = 1;
  float highest_bias = 1;  // biases go from -2 to here
};

// Rows have 0, 1, all or some inputs.
MemoryNetwork random_network(const RandomNetworkOptions& options);

// Images from no ones at all to ones everywhere.
SparseImages random_images(std::uint32_t neurons, std::uint32_t images, std::uint64_t seed);

struct ExpectedResult {
  Categories categories;
  std::vector<std::uint32_t> live;  // [layers + 1]
};

// Plain loops in fp64, one image after the other.
ExpectedResult expected_result(const Network& network, const SparseImages& images);

}  // namespace winnow::challenge
