// What a run trains with, the same at each of its ranks.
#pragma once

#include <optional>
#include <string>

#include "prune/config/run_config.h"
#include "prune/evolution/population/iteration_record.h"
#include "prune/evolution/ranks/peers.h"
#include "prune/prune_program.h"
#include "prune/training/steps/stage.h"
#include "prune/training/torch_trainee.h"
#include "runtime/model/model.h"

namespace winnow {

TraineeOptions trainee_options(const RunConfig& config, const PruneOptions& options);

Stage dense_stage(const RunConfig& config, const TorchTrainee& trainee);
Stage pruning_stage(const RunConfig& config);

// "iteration 12" of the number 11, for messages.
std::string iteration_name(std::int64_t iteration);

// Makes `teacher`, or the dense baseline if there is none, the teacher at every rank, with
// prune.distillation. `dense`: the file of the baseline; empty but at rank 0.
void share_teacher(const RunConfig& config, const std::optional<Model>& teacher,
                   const std::string& dense, TorchTrainee& trainee, Peers& peers);

}  // namespace winnow
