// Checks that checkpoints and deployed models share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/model/model.h"

namespace winnow {

// The fields that Model and DeployedModel have in common.
struct SharedState {
  const Graph& graph;
  const std::map<std::string, int>& activation_frac;
  int activation_bits;
  const Preprocessing& preprocessing;
  const std::vector<std::string>& classes;
};

// Throws Error{bad_file}, beginning with `place`, unless the graph's shapes meet and the rest fits
// the graph: activation bits belong to nodes, preprocessing to the input's channels, classes to the
// outputs.
void check_shared_state(const SharedState& state, const std::string& place);

}  // namespace winnow
