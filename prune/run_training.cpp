#include "prune/run_training.h"

namespace winnow {

TraineeOptions trainee_options(const RunConfig& config, const PruneOptions& options) {
  return {.device = config.device,
          .local_rank = options.local_rank,
          .threads = config.threads,
          .seed = config.evolution.seed,
          .train = config.train,
          .augment = config.augment,
          .vector = config.stage.vector,
          .row_balance = config.stage.row_balance,
          .feedback = config.stage.feedback,
          .batch_norm_images = config.stage.batch_norm_images,
          .should_stop = options.should_stop};
}

Stage pruning_stage(const RunConfig& config) {
  return {.rate = config.stage.rate,
          .units = config.evolution.iter_nr,
          .batches_per_unit = config.evolution.batch_nr,
          .schedules = schedules(config.method),
          .first_epoch = config.train.epochs,
          .is_pruning = true};
}

}  // namespace winnow
