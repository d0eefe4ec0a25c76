// Networks without some of their layers: what `model.remove_layers` asks for. A layer that is gone
// takes no time at any batch size, where a smaller one still takes a launch.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/model/model.h"

namespace winnow {

// Takes layers out of `model`, each with its parameters; whoever read a layer then reads what the
// layer read. A name is that of
//
//   a conv or linear layer: its batch norm, ReLU and dropout go too, where they alone read it;
//   an add of two values, one of which is computed of the other: a residual branch. The branch
//     goes, the other value stays, without a second ReLU behind the first.
//
// Throws Error{usage} for a name that is no node of the network (did-you-mean), for a node that
// is neither, for a layer whose output has another shape than its input, and for the network's
// output. The network computes something else afterwards and has to be trained.
void remove_layers(Model& model, std::span<const std::string> names);

// The names that remove_layers() takes, each alone, in the order of the graph.
std::vector<std::string> removable_layers(const Graph& graph);

}  // namespace winnow
