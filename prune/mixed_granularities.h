// `granularity: mixed`: each layer's own, chosen when pruning starts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "prune/config/run_config.h"
#include "prune/evolution/budget/granularity_choice.h"
#include "prune/evolution/ranks/peers.h"
#include "prune/training/torch_trainee.h"

namespace winnow {

// By the weights that the trainee has now, for prune.granularity mixed.
GranularityChoice choose_granularities(const RunConfig& config, const Graph& graph,
                                       const TorchTrainee& trainee);

// Masks and predictions follow the choice from now on; nothing happens if there is none.
void take_granularities(const std::vector<std::int64_t>& vectors, RunConfig& config,
                        TorchTrainee& trainee);

// Rank 0's, at every rank. What the others give is not read.
std::vector<std::int64_t> share_granularities(const std::vector<std::int64_t>& vectors,
                                              Peers& peers);

// The line of metrics.jsonl, and for people a line for each layer.
std::string to_json(const GranularityChoice& choice, const std::vector<PrunableLayer>& layers);
std::string describe(const GranularityChoice& choice, const std::vector<PrunableLayer>& layers);

}  // namespace winnow
