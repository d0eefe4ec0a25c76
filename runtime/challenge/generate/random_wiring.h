// Connections without structure, for networks that no engine can take a short cut through.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/random.h"

namespace winnow::challenge {

// A random layer in which every one of `neurons` outputs reads `connections` different inputs and
// every input is read by as many outputs.
//
//   returns  [neurons, connections] row-major, ascending within a row
//
// Requires 0 < connections <= neurons.
std::vector<std::uint32_t> random_wiring(std::uint32_t neurons, std::uint32_t connections,
                                         Random& random);

}  // namespace winnow::challenge
