#include "prune/training/masks/pruning_masks.h"

#include <torch/types.h>

#include "prune/training/masks/block_masks.h"
#include "prune/training/masks/channel_masks.h"
#include "prune/training/masks/layer_curves.h"
#include "prune/training/masks/mask_selection.h"
#include "prune/training/trainability.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

// Of the moving average of squared gradients: about the last hundred steps count.
constexpr double kSquareDecay = 0.99;

using Tensors = PruningMasks::Tensors;

// Of each of `all` the value of what is the same tensor among `some`, all of which are there; else
// undefined.
Tensors values_of(const Tensors& all, const Tensors& some, const Tensors& values) {
  Tensors found;
  std::size_t count = 0;
  for (const torch::Tensor& one : all) {
    torch::Tensor& value = found.emplace_back();
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (some[i].is_same(one)) value = values[i];
    }
    count += value.defined() ? 1 : 0;
  }
  if (count != some.size()) fail(ErrorCode::internal, "masks: a weight is no parameter");
  return found;
}

}  // namespace

void PruningMasks::begin_update() const {
  if (dense_.empty()) return;
  const torch::NoGradGuard no_grad;
  if (feedback_decay_ > 0) {
    Tensors gradients;
    for (const torch::Tensor& weight : masked_) gradients.push_back(weight.grad());
    torch::_foreach_add_(gradients, torch::_foreach_sub(dense_, masked_), feedback_decay_);
  }
  torch::_foreach_copy_(masked_, dense_);
}

void PruningMasks::follow() const {
  if (dense_.empty()) return;
  const torch::NoGradGuard no_grad;
  torch::_foreach_copy_(dense_, masked_);
}

void PruningMasks::mask_weights() const {
  const torch::NoGradGuard no_grad;
  torch::_foreach_mul_(masked_, masks_);
}

// A weight's mask is its momentum's.
PruningMasks::Tensors PruningMasks::factors(const Sgd& sgd) const {
  if (!dense_.empty()) return {};
  return values_of(sgd.momenta(), momenta_, momentum_masks_);
}

PruningMasks::Tensors PruningMasks::gradient_sums(const Sgd& sgd) const {
  if (!dense_.empty() || gradient_sums_.empty()) return {};
  return values_of(sgd.parameters(), weights_, gradient_sums_);
}

// The step had factors for all that is trained; running statistics are not.
void PruningMasks::finish_update() const {
  if (!dense_.empty()) {
    follow();
    mask_weights();
    return;
  }
  const torch::NoGradGuard no_grad;
  Tensors statistics, masks;
  for (std::size_t i = 0; i < masked_.size(); ++i) {
    if (masked_[i].requires_grad()) continue;
    statistics.push_back(masked_[i]);
    masks.push_back(masks_[i]);
  }
  if (!statistics.empty()) torch::_foreach_mul_(statistics, masks);
}

void PruningMasks::clear_gradients() const {
  const torch::NoGradGuard no_grad;
  if (!gradient_sums_.empty()) torch::_foreach_zero_(gradient_sums_);
}

void PruningMasks::add_gradients() const {
  const bool adds_up = !dense_.empty() && !gradient_sums_.empty();
  if (!adds_up && squares_.empty()) return;
  const torch::NoGradGuard no_grad;
  Tensors gradients;
  for (const torch::Tensor& weight : weights_) gradients.push_back(weight.grad());
  if (adds_up) torch::_foreach_add_(gradient_sums_, gradients);
  if (squares_.empty()) return;
  torch::_foreach_mul_(squares_, kSquareDecay);
  torch::_foreach_addcmul_(squares_, gradients, gradients, 1 - kSquareDecay);
}

std::vector<MagnitudeCurve> PruningMasks::weight_curves(std::int64_t vector) const {
  const torch::NoGradGuard no_grad;
  std::vector<WeightBlocks> layers;
  for (const torch::Tensor& weight : weights_) layers.push_back({weight, vector});
  return winnow::weight_curves(layers);
}

std::vector<Migration> to_migrations(const torch::Tensor& counts) {
  const torch::Tensor all = counts.to(torch::kCPU);
  const auto count = all.accessor<std::int64_t, 2>();
  std::vector<Migration> migrations;
  for (std::int64_t i = 0; i < all.size(0); ++i) {
    migrations.push_back({.entered = count[i][0],
                          .left = count[i][1],
                          .kept = count[i][2],
                          .kept_weights = count[i][3]});
  }
  return migrations;
}

std::unique_ptr<PruningMasks> make_masks(const Model& model, Learner& learner,
                                         const MaskOptions& options) {
  if (options.vectors.size() == 1 && options.vectors[0] == kWholeChannels) {
    return std::make_unique<ChannelMasks>(model, learner);
  }
  return std::make_unique<BlockMasks>(model, learner, options);
}

}  // namespace winnow
