// Nodes of a graph as FusedKernels compute them, with gradients.
#pragma once

#include <span>
#include <vector>

#include "prune/training/fused/fused_kernels.h"
#include "runtime/model/graph.h"

namespace winnow {

// For each node that is a batch norm the ReLU, without an upper bound, that alone reads it; else 0.
std::vector<std::size_t> relus_of_norms(const Graph& graph);

// The node's value in training, arguments as of apply_operation(); with `has_relu` that of the ReLU
// behind it. Undefined if the kernels do not compute such a node or such an input.
torch::Tensor fused_operation(const FusedKernels& kernels, const Op& op,
                              std::span<const torch::Tensor> inputs,
                              std::span<const torch::Tensor> parameters, bool has_relu);

}  // namespace winnow
