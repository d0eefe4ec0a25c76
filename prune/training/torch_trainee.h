// The network in training that the evolution works on. Free of LibTorch's headers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "prune/data/augment.h"
#include "prune/data/data_set.h"
#include "prune/evolution/trainee/trainee.h"
#include "prune/training/ranks/team_place.h"
#include "prune/training/steps/stage.h"
#include "prune/training/train_config.h"
#include "runtime/model/model.h"

namespace winnow {

struct TraineeOptions {
  std::string device = "auto";
  std::int64_t local_rank = 0;  // among the processes of this machine that train together
  std::int64_t threads = 0;     // of LibTorch on the CPU; 0: one per core
  std::uint64_t seed = 1;
  TrainConfig train;
  AugmentConfig augment;
  // Output channels that share a mask bit, or kWholeChannels, or kMixed: 1 until
  // TorchTrainee::set_granularities().
  std::int64_t vector = 1;
  // Every output channel, or vector of them, keeps equally many. Not for whole channels.
  bool row_balance = false;
  // Whether recompute_masks() is asked for an alpha above 0, which wants the sums of gradients.
  // They take a step's time and a weight's memory. Whole channels always have them.
  bool uses_gradients = true;
  // Blocks are ranked by |w| sqrt(v) in the place of |w|, where v is a moving average of the
  // squares of a weight's gradients: half of v w^2 is about what the loss gains when the weight
  // goes, by the diagonal of the empirical Fisher matrix (LeCun, Denker and Solla, "Optimal brain
  // damage", NIPS 1989; Theis et al., "Faster gaze prediction with dense networks and Fisher
  // pruning", 2018). Before the first step of a stage of pruning by |w|. Not for whole channels.
  bool uses_fisher = false;
  // Pruned weights go on being trained, by the gradient of the network without them, and come back
  // with what they have become: Lin et al., "Dynamic model pruning with feedback", ICLR 2020. With
  // w all weights and m the masks, per step: w <- w - rate grad L(m w). Not for whole channels.
  bool feedback = false;
  // d in grad L(m w) + d (1 - m) w, which draws pruned weights to 0: Zhou et al., "Learning N:M
  // fine-grained structured sparse neural networks from scratch", ICLR 2021, eq 5 (SR-STE).
  double feedback_decay = 0;
  // Training images to take batch norm's statistics from anew before each measurement of a stage of
  // pruning (Learner::reestimate_statistics); 0: never.
  std::int64_t batch_norm_images = 0;

  // Of stages of pruning, once set_teacher() was called.
  Distillation distillation = {};

  // Asked after every batch of training and between those of measurements; true ends the call with
  // Error{interrupted}.
  std::function<bool()> should_stop = {};
  std::function<void(std::int64_t batch)> on_batch = {};  // told the number of each finished batch
};

// Trains a Model under masks. Every conv and linear layer is prunable; masks of whole channels have
// layers of their own (channel_units.h).
//
// Equal options, data and calls give equal bits on the CPU for an equal number of threads, and on
// one kind of GPU (cuDNN is held to its deterministic algorithms).
class TorchTrainee : public Trainee {
 public:
  // Copies images and weights to the device. Throws Error{device} if it is missing and Error{usage}
  // if images, classes and network do not fit.
  TorchTrainee(const Model& model, const DataSet& data, const TraineeOptions& options);
  ~TorchTrainee() override;

  // Whatever is trained from now on is trained together with the team's other ranks, which make the
  // same calls: each computes the gradients of its part of every batch, all take the same step
  // (shared_step.h), and a request to stop at one stops all behind the same batch. Measurements are
  // each rank's own. Waits for the others. Throws Error{device} if this build cannot sum over ranks
  // on the device.
  void join(const TeamPlace& place);

  // Whatever is trained from now on belongs to this stage. Weights, momentum and masks stay.
  void begin(const Stage& stage);

  // Takes the model's weights, with its masks where it has them; momentum and gradient statistics
  // start at 0.
  void load(const Model& model);

  // `vectors[i]` output channels of the i-th conv or linear layer share a mask bit from now on;
  // masks keep everything. Snapshots from before fit no more. Not for whole channels.
  void set_granularities(std::span<const std::int64_t> vectors);

  // Of the weights of every conv and linear layer in blocks of `vector`, whatever its masks are.
  std::vector<MagnitudeCurve> weight_curves(std::int64_t vector) const;

  // Momentum and gradient statistics start at 0 again.
  void reset_momentum();

  // Stages of pruning learn from the network of `snapshot`, or of a model that takes the same
  // samples and gives the same classes, as TraineeOptions::distillation says; a model sees them as
  // its own preprocessing makes them. The trainee's own state stays. Another teacher that follows
  // has the same graph and preprocessing.
  void set_teacher(const Snapshot& snapshot);
  void set_teacher(const Model& model);

  // Puts weights, running statistics and masks (of layers that lack a weight) into `model`.
  void store(Model& model) const;

  // Trains like train_batches, but adds the loss of each batch to `loss_sum`, in the batches'
  // order. It has those of all finished batches, also if this throws: a sum that is taken up again
  // later has the same bits as one that never stopped.
  void train_on(std::int64_t first, std::int64_t count, double& loss_sum);

  std::int64_t batches_per_epoch() const;
  // The name of a tensor of the network with NaN or infinity in it; empty if there is none.
  std::string first_not_finite() const;
  // Of all that a snapshot of now would have (ranks/state_checksum.h).
  std::uint32_t checksum() const;
  std::string device() const;  // for people: "cuda:0 (NVIDIA H200), steps as CUDA graphs, ..."
  // The most device memory that LibTorch has held in this process (device.h).
  std::int64_t peak_gpu_bytes() const;

  const std::vector<PrunableLayer>& layers() const override;
  double train_batches(std::int64_t first, std::int64_t count) override;
  double measure_accuracy() override;
  double measure_loss(std::int64_t images) override;
  bool has_finite_state() override { return first_not_finite().empty(); }
  std::vector<MagnitudeCurve> magnitude_curves() override;
  std::vector<Migration> recompute_masks(std::span<const double> sparsities,
                                         std::span<const double> alphas) override;
  std::vector<GroupNorms> group_norms() override;
  void set_penalty(const GroupPenalty& penalty) override;
  std::vector<Migration> keep_groups(std::span<const KeptGroups> kept) override;
  std::shared_ptr<const Snapshot> snapshot() override;
  void restore(const Snapshot& snapshot) override;
  std::uint64_t fingerprint(const Snapshot& snapshot) const override;
  void rewind_weights(const Snapshot& snapshot) override;

  // A snapshot as tensors in host memory, by names without a prefix, and back. read_snapshot throws
  // Error{bad_file} if a tensor is missing or does not fit; `place` begins the message.
  std::map<std::string, Tensor> write_snapshot(const Snapshot& snapshot) const;
  std::shared_ptr<const Snapshot> read_snapshot(const std::map<std::string, Tensor>& tensors,
                                                const std::string& place) const;

  // What tells this trainee's GPU from all others; empty for the CPU (rank_group.h).
  std::string gpu_identity() const;

  // From now on broadcast() gives snapshots to the ranks of `place`, which have a GPU each and make
  // the same calls: that of rank `from`, at every rank; what the others give is not read. Waits for
  // the others. Throws Error{device} with the rank's name if one is lost.
  void join_population(const TeamPlace& place);
  std::shared_ptr<const Snapshot> broadcast(std::shared_ptr<const Snapshot> mine,
                                            std::int64_t from);

  // The same as bytes, for a trainee of the same network in another process. snapshot_from throws
  // Error{internal} if they do not fit.
  std::string snapshot_bytes(const Snapshot& snapshot) const;
  std::shared_ptr<const Snapshot> snapshot_from(const std::string& bytes) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace winnow
