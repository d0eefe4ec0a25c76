// Rewrites of a model's graph that keep the names and the order of what stays.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "runtime/model/model.h"

namespace winnow {

// The nodes that read the value of node `name`, by index, in order; once per node.
std::vector<std::size_t> readers_of(const Graph& graph, const std::string& name);

// Removes the node at `index`, which nobody may read, with its parameters, mask and activation
// format.
void erase_node(Model& model, std::size_t index);

// Removes the node at `index`, which reads one value, in the same way: whoever read the node now
// reads that value.
void bypass_node(Model& model, std::size_t index);

// The bias of conv or linear node `node` of `model`; it gets one of zeros if it has none.
std::span<float> bias_of(Model& model, Node& node);

// Without dropouts, which do nothing at inference.
Model remove_dropouts(Model model);

}  // namespace winnow
