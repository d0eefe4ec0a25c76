// Nodes of a graph as FusedKernels compute them, with gradients.
#pragma once

#include <span>

#include "prune/training/fused/fused_kernels.h"
#include "runtime/model/graph.h"

namespace winnow {

// What lies behind an operation: an undefined addend is none.
struct FusedTail {
  torch::Tensor addend = {};
  bool has_relu = false;
};

// The node's value, arguments as of apply_operation(), with that of the tail behind it. In
// evaluation it has no gradients. Undefined if the kernels do not compute such a node or such an
// input.
torch::Tensor fused_operation(const FusedKernels& kernels, const Op& op,
                              std::span<const torch::Tensor> inputs,
                              std::span<const torch::Tensor> parameters, const FusedTail& tail,
                              bool is_training);

}  // namespace winnow
