// What all ranks begin with.
#pragma once

#include <memory>

#include "prune/evolution/evolution_state.h"
#include "prune/evolution/ranks/peers.h"

namespace winnow {

struct StartingPoint {
  EvolutionState evolution;                 // without a pool: not begun
  std::shared_ptr<const Snapshot> current;  // the network to begin with; null where there is a pool
};

// Rank 0's, at every rank; what the others give is not read.
StartingPoint share_start(StartingPoint start, Peers& peers);

}  // namespace winnow
