// Random initial weights, equal on every machine.
#pragma once

#include <cstdint>

#include "runtime/model/graph.h"
#include "runtime/model/model.h"

namespace winnow {

// A model with `graph` and all its parameters:
//   conv weight       normal, deviation sqrt(2 / (K R S)) (He et al. 2015, eq 14, for ReLU)
//   linear            weight and bias uniform in +-1 / sqrt(in)
//   embedding         standard normal
//   batch norm        weight and running_var 1, the rest 0; conv bias 0
// Equal graphs and seeds give equal bits. Throws Error{usage} if the graph is not valid.
Model initial_model(const Graph& graph, std::uint64_t seed);

}  // namespace winnow
