// The ops of a Graph in LibTorch's terms.
#pragma once

#include <torch/types.h>

#include <span>

#include "prune/training/ranks/batch_part.h"
#include "runtime/model/graph.h"

namespace winnow {

// The value of a node.
//
//   inputs      values of its input nodes
//   parameters  its own tensors as parameters_of orders them
//
// Training updates batch norm's running statistics in place and draws dropout from the default
// generator of the inputs' device. Requires a graph that infer_shapes accepts; not for Input.
torch::Tensor apply_operation(const Op& op, std::span<const torch::Tensor> inputs,
                              std::span<const torch::Tensor> parameters, bool is_training);

// Dropout in training of a part of a batch: draws as for the whole batch and takes the part.
torch::Tensor apply_dropout(const Dropout& dropout, const torch::Tensor& input,
                            const BatchPart& part);

}  // namespace winnow
