// What the evolution needs of a network in training. The Torch trainer implements it; tests put a
// small model of a network in its place.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "prune/evolution/trainee/magnitude_curve.h"
#include "prune/evolution/trainee/weight_groups.h"

namespace winnow {

// Weights that go when a whole channel goes, of the layers that compute it and of those that read
// it.
struct ChannelCost {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t other = kNone;  // index of the other layer of a pair
  double weights = 0.0;  // there for each pair of a block of this layer and one of the other, or
                         // for each block of this layer if there is no other
  double macs = 0.0;     // multiply-accumulates per sample of these weights
};

// A layer that computes, passes or reads the channels of a unit: what a budget of time asks.
struct ChannelPart {
  std::string layer;
  std::int64_t outputs = 0, inputs = 0;          // of it, that each block of the unit is
  std::int64_t all_outputs = 0, all_inputs = 0;  // of it; no inputs where they are its outputs
  std::int64_t weights = 0;                      // of it, all; 0 of a batch norm
};

// A layer whose weights are pruned. One block is what a mask bit keeps or drops: one weight
// (element masks), `vector` weights of neighbouring output channels (vector masks), or an output
// channel with all of its weights, in all layers that share it (channel masks: the "layer" then is
// all of `members`, and weights are those of its filters).
struct PrunableLayer {
  std::string name;
  std::int64_t blocks = 0;
  std::int64_t weights_per_block = 1;  // of the largest block; the last group of channels has less
  std::int64_t weights = 0;            // of all blocks together, at most blocks * weights_per_block
  double macs_per_weight = 1.0;        // multiply-accumulates per sample that a kept weight costs
  double initial_sparsity = 0.0;       // share of the blocks that masks given at the start drop
  std::int64_t balanced_rows = 1;      // of as many blocks each; masks keep equally many in each
  std::vector<std::int64_t> shape = {};  // of the weight: [K, C, ...]; only erk (allocation.h) asks
  std::vector<std::string> members = {};  // channel masks: the layers whose channels go together
  std::vector<ChannelCost> costs = {};    // channel masks: every pair once; else none
  std::vector<ChannelPart> parts = {};    // channel masks: each layer once; else none
};

// Blocks of one layer that changed sides when its mask was recomputed.
struct Migration {
  std::int64_t entered = 0;       // were pruned, are kept now
  std::int64_t left = 0;          // were kept, are pruned now
  std::int64_t kept = 0;          // kept now, entered ones included
  std::int64_t kept_weights = 0;  // weights of the blocks kept now, counted one by one
};

// Weights, batch norm statistics, optimizer state, masks and gradient statistics at one moment.
// Immutable. It knows no learning rate and no place in the data: see Trainee::train_batches.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
};

// A trainee has no state that matters but what a Snapshot holds: each iteration restores a snapshot
// before anything else, so a run that goes on from a checkpoint repeats the same numbers.
class Trainee {
 public:
  virtual ~Trainee() = default;

  // The same layers in the same order at every call.
  virtual const std::vector<PrunableLayer>& layers() const = 0;

  // Trains the batches first .. first + count - 1 of the run under the current masks (eq 4 after
  // every step) and accumulates, per weight, the gradient statistics that eq 2 reads: the mean
  // gradient of the task's loss, pruned weights included. Statistics start anew at each call.
  //
  // `first` alone fixes the learning rate, the data order, augmentation and dropout. From iteration
  // to iteration it only grows: batches that are rewound count too, so iter_nr * batch_nr batches
  // are the whole schedule. Plans that are judged (judge_batches) train the first batches of their
  // iteration; these are trained again afterwards and count once.
  //
  // Returns the mean training loss. Throws Error{interrupted} if the user asked to stop; the
  // network is then as after the last whole batch.
  virtual double train_batches(std::int64_t first, std::int64_t count) = 0;

  // Fraction of validation samples classified right, in [0, 1], under the current masks.
  virtual double measure_accuracy() = 0;

  // Mean loss of the first `images` training images, as they are, under the current masks; all of
  // them if there are fewer. Batch norms take their statistics from these images, since masks that
  // nothing was trained under change what they normalise. Changes no weight.
  virtual double measure_loss(std::int64_t images) = 0;

  // Whether all weights and batch norm statistics are finite numbers. Loss and accuracy can be
  // while these are not: a statistic that is infinite makes its channel constant. Waits for the
  // device.
  virtual bool has_finite_state() = 0;

  // Of every layer under the current masks, at curve_ranks().
  virtual std::vector<MagnitudeCurve> magnitude_curves() = 0;

  // Eqs 2 and 3: ranks the blocks of every layer by alpha |grad| + (1 - alpha) |w| (each normalised
  // by its mean over the layer) and keeps the kept_blocks() best (importance.h), then applies eq 4.
  // Pruned blocks can so return, with the value 0 from which training moves them. A network that
  // was never trained has no gradient statistics: its gradients count as 0.
  //
  //   sparsities  [layers] in [0, 1)
  //   alphas      [layers] in [0, 1]; empty: all 0
  virtual std::vector<Migration> recompute_masks(std::span<const double> sparsities,
                                                 std::span<const double> alphas) = 0;

  // Of every layer under the current masks. Waits for the device.
  virtual std::vector<GroupNorms> group_norms() = 0;

  // Training from now on has this penalty, until it is set again: no snapshot has it.
  virtual void set_penalty(const GroupPenalty& penalty) = 0;

  // Masks that keep what these groups, [layers], and the masks of now keep.
  virtual std::vector<Migration> keep_groups(std::span<const KeptGroups> kept) = 0;

  // The whole state, and the way back to it ("rewinding").
  virtual std::shared_ptr<const Snapshot> snapshot() = 0;
  virtual void restore(const Snapshot& snapshot) = 0;

  // Of a snapshot's masks: equal for equal masks.
  virtual std::uint64_t fingerprint(const Snapshot& snapshot) const = 0;

  // Weights, statistics and optimizer as in the snapshot, but under the masks of now.
  virtual void rewind_weights(const Snapshot& snapshot) = 0;
};

}  // namespace winnow
