// Weights for benchmarks, equal with every standard library.
#pragma once

#include <cstdint>

#include "runtime/model/csr.h"

namespace winnow {

// Which blocks a random mask keeps.
enum class RandomMask {
  independent,  // each with the same probability: rows of different lengths
  balanced      // equally many in every row
};

struct WeightSize {
  std::int64_t channels = 0;
  std::int64_t cols = 0;
  int vector = 1;  // neighbouring channels that share a mask bit
};

// A weight of about that sparsity (0 to 1) with values from -1 to 1. A balanced mask keeps at least
// one block of every row.
CsrWeight random_weight(const WeightSize& size, double sparsity, RandomMask kind,
                        std::uint64_t seed);

}  // namespace winnow
