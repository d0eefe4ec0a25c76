#include "prune/run/run_training.h"

#include <memory>
#include <utility>

#include "runtime/model/safetensors.h"

namespace winnow {

namespace {

bool uses_gradients(const RunConfig& config) {
  return config.method.method == Method::evolutionary && config.evolution.alpha > 0.0;
}

}  // namespace

TraineeOptions trainee_options(const RunConfig& config, const PruneOptions& options) {
  return {.device = config.device,
          .local_rank = options.local_rank,
          .threads = config.threads,
          .seed = config.evolution.seed,
          .train = config.train,
          .augment = config.augment,
          .vector = config.stage.vector,
          .row_balance = config.stage.row_balance,
          .uses_gradients = uses_gradients(config),
          .uses_fisher = config.stage.uses_fisher,
          .feedback = config.stage.feedback,
          .feedback_decay = config.stage.feedback_decay,
          .batch_norm_images = config.stage.batch_norm_images,
          .distillation = config.stage.distillation,
          .should_stop = options.should_stop};
}

Stage dense_stage(const RunConfig& config, const TorchTrainee& trainee) {
  return {.rate = config.train.rate,
          .units = config.train.epochs,
          .batches_per_unit = trainee.batches_per_epoch(),
          .first_epoch = 0,
          .is_pruning = false};
}

std::string iteration_name(std::int64_t iteration) {
  return "iteration " + std::to_string(iteration + 1);
}

Stage pruning_stage(const RunConfig& config) {
  return {.rate = config.stage.rate,
          .units = config.evolution.iter_nr,
          .batches_per_unit = config.evolution.batch_nr,
          .schedules = schedules(config.method),
          .first_epoch = config.train.epochs,
          .is_pruning = true};
}

void share_teacher(const RunConfig& config, const std::optional<Model>& teacher,
                   const std::string& dense, TorchTrainee& trainee, Peers& peers) {
  if (config.stage.distillation.weight <= 0.0) return;
  if (teacher) return trainee.set_teacher(*teacher);
  std::shared_ptr<const Snapshot> baseline;
  if (!dense.empty()) {
    const auto own = trainee.snapshot();
    trainee.load(load_model(dense));
    baseline = trainee.snapshot();
    trainee.restore(*own);
  }
  trainee.set_teacher(*peers.share(std::move(baseline), 0));
}

}  // namespace winnow
