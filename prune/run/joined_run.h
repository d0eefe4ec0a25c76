// A run that several processes share: rank 0 is a PruneRun and writes the folder, the others train
// what it asks for and write nothing.
#pragma once

#include "prune/prune_program.h"
#include "prune/training/ranks/store_peers.h"

namespace winnow {

// Throws Error{usage}, at each rank, if one has another configuration or version than rank 0.
void require_same_run(const RunConfig& config, Peers& peers);

// The run of a rank other than 0, from its start to its end. Throws what stops it, as
// Error{interrupted}, and Error{device} if another rank is gone.
void join_run(const RunConfig& config, const PruneOptions& options);

}  // namespace winnow
