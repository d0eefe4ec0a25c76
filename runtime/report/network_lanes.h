// Where the nodes of a network stand in a drawing: one below the other, branches beside each other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/report/run_facts.h"

namespace winnow {

struct NetworkRow {
  std::size_t node = 0;                // in the list of nodes
  std::vector<std::size_t> followers;  // nodes that stand in the same row: a relu behind its layer
  std::vector<std::size_t> inputs;     // rows above
  std::size_t lane = 0;                // from the left
};

struct NetworkLanes {
  std::vector<NetworkRow> rows;
  std::size_t lanes = 0;
};

// A value keeps its lane until the last row that reads it, so that no line crosses a foreign node.
// Operations on single values that alone read the node before stand in its row. Every
// input must be an earlier node.
NetworkLanes lanes_of(const std::vector<NodeFacts>& nodes);

}  // namespace winnow
