// Outputs of a layer that are always equal, computed once.
#pragma once

#include <cstdint>

#include "runtime/challenge/network.h"

namespace winnow::challenge {

struct FoldedNetwork {
  MemoryNetwork network;
  std::uint64_t outputs = 0;       // of all layers as they were
  std::uint64_t kept_outputs = 0;  // that are left
};

// Outputs that read the same inputs with the same weights and have the same bias are equal for
// every image. The first of them stays; what read several of them in the next layer reads that one
// with the sum of the weights, and may be equal to others in its turn. The same images live, up to
// rounding: sums of weights are rounded to floats. Of the published networks 1 of 16 outputs stays,
// and of the connections 1 of 16 to 1 of 256.
//
// Reads all layers once and holds the folded ones in memory.
FoldedNetwork fold_equal_outputs(const Network& network);

}  // namespace winnow::challenge
