#include "prune/training/masks/masked_layer.h"

#include <torch/types.h>

#include "prune/training/masks/mask_selection.h"

namespace winnow {

MaskedLayer MaskedLayer::whole(std::string node, std::int64_t vector, const torch::Tensor& weight,
                               const torch::Tensor& momentum) {
  const auto shape = block_mask_shape(weight, vector);
  return {
      .node = std::move(node),
      .vector = vector,
      .weight = weight,
      .momentum = momentum,
      .block_mask = torch::ones(shape, weight.options().dtype(torch::kByte).requires_grad(false)),
      .mask = torch::ones_like(weight).detach(),
      .filter_size = static_cast<double>(weight.numel() / weight.size(0)),
      .channel_size = static_cast<double>(weight.numel() / weight.size(1)),
      .shape_size = static_cast<double>(weight.size(0))};
}

torch::Tensor MaskedLayer::ranked() const {
  const torch::Tensor& values = dense.defined() ? dense : weight;
  if (!square.defined()) return values;
  const torch::NoGradGuard no_grad;
  return values * torch::where(square.max() > 0, square.sqrt(), torch::ones_like(square));
}

void MaskedLayer::set_mask(const torch::Tensor& new_block_mask) {
  const torch::NoGradGuard no_grad;
  block_mask = new_block_mask;
  mask.copy_(weight_mask(block_mask, weight, vector));
}

void MaskedLayer::count_groups() {
  const torch::NoGradGuard no_grad;
  const auto largest = [&](const torch::Tensor& sums) { return sums.max().item<double>(); };
  filter_size = largest(mask.flatten(1).sum(1));
  channel_size = largest(mask.transpose(0, 1).flatten(1).sum(1));
  shape_size = largest(mask.sum(0));
}

torch::Tensor MaskedLayer::migration_from(const torch::Tensor& old_block_mask) const {
  const torch::Tensor is = block_mask.to(torch::kBool);
  const torch::Tensor was = old_block_mask.to(torch::kBool);
  return torch::stack({(is & ~was).sum(), (was & ~is).sum(), is.sum(), (mask != 0).sum()});
}

}  // namespace winnow
