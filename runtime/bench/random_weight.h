// Weights for benchmarks, equal with every standard library.
#pragma once

#include <cstdint>

#include "runtime/model/csr.h"

namespace winnow {

struct WeightSize {
  std::int64_t channels = 0;
  std::int64_t cols = 0;
  int vector = 1;  // neighbouring channels that share a mask bit
};

// Keeps each block with probability 1 - sparsity; values from -1 to 1.
CsrWeight random_weight(const WeightSize& size, double sparsity, std::uint64_t seed);

}  // namespace winnow
