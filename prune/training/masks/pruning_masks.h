// The masks of a network in training, of whatever granularity.
#pragma once

#include <torch/types.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "prune/evolution/trainee/trainee.h"
#include "prune/training/steps/learner.h"
#include "runtime/model/model.h"

namespace winnow {

struct MaskOptions {
  // Output channels that share a mask bit, of each conv and linear layer; or kWholeChannels alone.
  std::vector<std::int64_t> vectors = {};
  // As in TraineeOptions; neither with whole channels.
  bool row_balance = false, uses_gradients = true, uses_fisher = false, feedback = false;
  double feedback_decay = 0;
  bool fuses_kernels = true;  // MaskKernels rank, sort and choose where the device has them
};

class PruningMasks {
 public:
  using Tensors = std::vector<torch::Tensor>;
  using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

  virtual ~PruningMasks() = default;

  // What a sparsity belongs to, in order.
  const std::vector<PrunableLayer>& layers() const { return layers_; }

  // Takes the masks of `model`, where it has them. Throws Error{usage} if they have another
  // granularity.
  virtual void load(const Model& model) = 0;

  // Puts masks (of layers that lack a weight) into `model`, which has the weights.
  virtual void store(Model& model) const = 0;

  // Trainee::recompute_masks and magnitude_curves.
  virtual std::vector<Migration> recompute(std::span<const double> sparsities,
                                           std::span<const double> alphas) = 0;
  virtual std::vector<MagnitudeCurve> magnitude_curves() const = 0;

  // Of the weights of all layers in blocks of `vector` (weight_curves() of layer_curves.h).
  std::vector<MagnitudeCurve> weight_curves(std::int64_t vector) const;

  // Trainee::group_norms and keep_groups.
  virtual std::vector<GroupNorms> group_norms() const = 0;
  virtual std::vector<Migration> keep_groups(std::span<const KeptGroups> kept) = 0;

  // The proximal step of GroupPenalty at this learning rate.
  virtual void shrink_groups(const GroupPenalty& penalty, double rate) const = 0;

  // What a snapshot needs beside weights, statistics and momenta. When these tensors were changed
  // in place, refresh() makes all else agree with them.
  virtual NamedTensors state() const = 0;
  virtual void refresh() = 0;

  // What is kept, as copies, and the way back to it whatever is kept now.
  virtual Tensors choice() const = 0;
  virtual void choose(const Tensors& choice) = 0;

  // Before, in and after a step of the optimizer, which are eq 4 together. Factors are SgdMasking's
  // and stay where they are; with feedback there are none, and the step is one of the dense
  // weights, by the gradient at the masked ones.
  void begin_update() const;
  Tensors factors(const Sgd& sgd) const;
  void finish_update() const;

  // Only the weights under the masks are left of the network as it is.
  void mask_weights() const;

  // After a step without masks: with feedback the weights are the dense ones.
  void follow() const;

  // The gradient statistics of eq 2, SgdMasking's, and the squares of a Fisher criterion, which go
  // on. With feedback there are no sums for the step, whose gradients are others: add_gradients()
  // adds them before begin_update().
  void clear_gradients() const;
  void add_gradients() const;
  Tensors gradient_sums(const Sgd& sgd) const;

 protected:
  explicit PruningMasks(std::vector<PrunableLayer> layers) : layers_(std::move(layers)) {}

  std::vector<PrunableLayer> layers_;
  // For multi-tensor operations. What eq 4 multiplies, by masks_, and the momenta of these; weights
  // whose gradients are summed.
  Tensors masked_, masks_;
  Tensors momenta_, momentum_masks_;
  Tensors weights_, gradient_sums_;
  Tensors squares_;  // with a Fisher criterion, of weights_; else none
  Tensors dense_;    // with feedback, of masked_; else none
  double feedback_decay_ = 0;
};

// Migration of each layer from its counts, int64 [layers, 4] on the device in the order of the
// members: one transfer for all.
std::vector<Migration> to_migrations(const torch::Tensor& counts);

// `learner` must outlive them.
std::unique_ptr<PruningMasks> make_masks(const Model& model, Learner& learner,
                                         const MaskOptions& options);

}  // namespace winnow
