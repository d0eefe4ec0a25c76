// Batch norm as part of the layer before it.
#pragma once

#include "runtime/model/model.h"

namespace winnow {

// Folds every batch norm whose input is a conv or linear that nobody else reads:
//   w' = w * gamma / sqrt(var + epsilon),  b' = (b - mean) * gamma / sqrt(var + epsilon) + beta
// computed in double. The layer keeps its name and gets a bias; the batch norm's readers read the
// layer. Masks stay: a folded weight is 0 where the mask is 0. Other batch norms stay as they are.
// Weights must be f32 (Error{usage} for a quantized model that still has batch norms to fold).
Model fold_batch_norm(const Model& model);

// Takes node `index` out of the graph: its readers read its first input instead.
void bypass_node(Graph& graph, std::size_t index);

// Number of nodes that read the node called `name`.
std::size_t reader_count(const Graph& graph, const std::string& name);

}  // namespace winnow
