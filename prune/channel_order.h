// `permute_channels: true`: channels in an order that suits masks of vectors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "prune/config/run_config.h"
#include "prune/training/torch_trainee.h"
#include "runtime/model/model.h"

namespace winnow {

// What a layer's masks of the goal would keep of the sum of its squared weights.
struct KeptOfLayer {
  std::string name;
  double before = 0.0, after = 0.0;  // the new order
};

// Brings the channels of `model`, which has the trainee's weights and no masks, into the order of
// permutation_for() for the goal's masks (goal_sparsities()), and the trainee with it. `vectors`,
// [layers], are the layers' granularities. Returns the layers that are to
// be pruned in vectors.
std::vector<KeptOfLayer> permute_for_goal(const RunConfig& config,
                                          const std::vector<std::int64_t>& vectors, Model model,
                                          TorchTrainee& trainee);

// The line of metrics.jsonl.
std::string to_json(const std::vector<KeptOfLayer>& layers);

}  // namespace winnow
