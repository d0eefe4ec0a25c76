// Which nodes of a graph are computed with the batch norm before them.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/model/graph.h"

namespace winnow {

// Nodes behind a batch norm that are computed with it, by index; 0: none.
struct NormTail {
  std::size_t add = 0;     // a sum of two that alone reads the norm, as the later of both
  std::size_t addend = 0;  // what else it sums
  std::size_t relu = 0;    // without an upper bound: alone reads the norm, or the sum

  friend bool operator==(const NormTail&, const NormTail&) = default;
};

// For each node; of others than batch norms none.
std::vector<NormTail> tails_of_norms(const Graph& graph);

}  // namespace winnow
