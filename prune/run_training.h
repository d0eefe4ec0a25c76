// What a run trains with, the same at each of its ranks.
#pragma once

#include "prune/config/run_config.h"
#include "prune/prune_program.h"
#include "prune/training/stage.h"
#include "prune/training/torch_trainee.h"

namespace winnow {

TraineeOptions trainee_options(const RunConfig& config, const PruneOptions& options);

Stage pruning_stage(const RunConfig& config);

}  // namespace winnow
