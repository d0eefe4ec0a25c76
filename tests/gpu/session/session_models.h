// Models and inputs for tests of GPU sessions.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/model/model.h"
#include "tests/gpu/random_values.h"

namespace winnow {

// A deployed model of `graph` with random weights: sparse ones of `vector`, but the first
// convolution dense, as pruning often leaves it.
DeployedModel model_of(const Graph& graph, int vector, std::uint64_t seed);

// `op` with this stride and so many groups.
Conv strided(Conv op, std::int64_t stride, std::int64_t groups);

// Convolutions of every kind in a chain, as in VGG; samples [3, 13, 11], 10 outputs.
Graph chain_graph();

// Kim's text network: token numbers, two convolutions over them, maxima over time; samples of 9
// tokens below 50, 2 outputs.
Graph text_graph();

// `batch` random samples.
std::vector<float> input_for(const Graph& graph, std::int64_t batch, RandomValues& random);

}  // namespace winnow
