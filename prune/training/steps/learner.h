// Trains a network batch by batch; knows nothing of masks.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "prune/data/data_set.h"
#include "prune/training/network/network.h"
#include "prune/training/ranks/team.h"
#include "prune/training/steps/batches.h"
#include "prune/training/steps/sgd.h"
#include "prune/training/steps/stage.h"
#include "prune/training/steps/step_replay.h"
#include "prune/training/steps/teacher.h"
#include "prune/training/train_config.h"

namespace winnow {

// bf16 if asked for, or if left open and `device` is a GPU.
bool uses_bf16(TrainingPrecision precision, const torch::Device& device);

// A sum of losses, kept on the device so that adding does not wait for it.
class LossSum {
 public:
  LossSum(const torch::Device& device, double start);

  void add(const torch::Tensor& loss) { sum_ += loss; }
  double value() const;  // waits for the device

 private:
  torch::Tensor sum_;  // one double
};

// Called between two batches of a pass over images; throws to end it.
using Pause = std::function<void()>;

class Learner {
 public:
  struct Hooks {
    // Parts of the step, recorded with it: they launch equal work for all batches of stages that
    // agree in is_pruning. Before the update gradients are there and weights are old.
    std::function<void()> before_update, after_update;
    // SgdMasking's. A recorded step has them where they are: other tensors need forget_steps().
    std::vector<torch::Tensor> factors, gradient_sums;
    std::function<void()> after_batch;  // throws to stop: the batch counts as done
  };

  Learner(const Model& model, const DataSet& data, const torch::Device& device,
          const TrainConfig& config, const AugmentConfig& augment, std::uint64_t seed);

  // Divides each batch of training among the team's ranks from now on; none: this process trains
  // alone. Measurements stay whole at each rank.
  void join(std::unique_ptr<Team> team);
  Team* team() const { return team_.get(); }

  // Trains batches first .. first + count - 1 of `stage`; each is fixed by its number alone. Adds
  // the loss of each finished batch to `losses`.
  void train(const Stage& stage, std::int64_t first, std::int64_t count, const Hooks& hooks,
             LossSum& losses);

  // `network` as it is, of this learner's options, becomes the teacher of stages of pruning from
  // now on and sees inputs after `change`. Another one that follows has the same graph and change.
  void set_teacher(const Distillation& how, const Network& network, const InputChange& change = {});

  // Replaces the running statistics of every batch norm by those of the first `images` training
  // images (all, if there are fewer), as they are, in batches: the mean over the batches, weighted
  // by their sizes, of each batch's mean and unbiased variance. Every layer sees what the layers
  // before it make of the batch by its own statistics; dropout leaves nothing out. A batch of a
  // single image is left out.
  void reestimate_statistics(std::int64_t images, const Pause& pause = {});

  // Mean cross entropy, without label smoothing, of the first `images` training images (all, if
  // there are fewer), as they are.
  double measure_loss(std::int64_t images, const Pause& pause = {});

  // Fraction of the validation images classified right.
  double measure_accuracy(const Pause& pause = {});

  // A last batch of a single image is left out: batch norm has no variance of one value.
  std::int64_t batches_per_epoch() const { return batches_per_epoch_; }

  // Whether steps are recorded and launched as CUDA graphs.
  bool records_steps() const { return replay_.records(); }

  // For all that is queued on the device.
  void wait() const { (void)rate_.item<float>(); }
  // The next steps are recorded anew.
  void forget_steps() { replay_.forget(); }

  // Whether steps use kernels of our own where they can.
  bool fuses_kernels() const { return network_.options().fused != nullptr; }

  Network& network() { return network_; }
  Sgd& sgd() { return sgd_; }

 private:
  torch::Tensor train_batch(const Stage& stage, std::int64_t index, const Hooks& hooks);
  torch::Tensor train_part(const DrawnBatch& drawn, bool is_pruning, const Hooks& hooks);
  torch::Tensor step(const DrawnBatch& drawn, bool is_pruning, const Hooks& hooks);
  torch::Tensor shared_step(const DrawnBatch& drawn, const BatchPart& part, bool is_pruning,
                            const Hooks& hooks);
  torch::Tensor loss_of(const Batch& batch, bool is_pruning);
  void update(const Hooks& hooks);
  void seek(const Stage& stage, std::int64_t index);

  TrainConfig config_;
  std::uint64_t seed_;
  bool is_bf16_;
  Network network_;
  Sgd sgd_;
  TrainingBatches batches_;
  EvaluationBatches training_;  // the training images in order, unchanged
  std::int64_t training_count_;
  EvaluationBatches validation_;
  std::int64_t validation_count_;
  std::int64_t batches_per_epoch_;
  bool has_dropout_;
  Distillation distillation_;
  std::optional<Teacher> teacher_;
  torch::Tensor rate_;  // one float on the device
  std::unique_ptr<Team> team_;
  StepReplay replay_;  // what it recorded uses the team, and ends first
};

}  // namespace winnow
