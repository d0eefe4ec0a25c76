#include "prune/training/masks/group_lasso.h"

#include <torch/types.h>

#include <cmath>

namespace winnow {
namespace {

// All dimensions but `dimension`.
std::vector<std::int64_t> others(const torch::Tensor& weight, std::int64_t dimension) {
  std::vector<std::int64_t> dimensions;
  for (std::int64_t i = 0; i < weight.dim(); ++i) {
    if (i != dimension) dimensions.push_back(i);
  }
  return dimensions;
}

torch::Tensor norms_of(const torch::Tensor& weight, GroupKind kind) {
  switch (kind) {
    case GroupKind::filters:
      return filter_norms(weight);
    case GroupKind::channels:
      return channel_norms(weight);
    case GroupKind::shapes:
      return shape_norms(weight);
  }
  return {};
}

}  // namespace

torch::Tensor filter_norms(const torch::Tensor& weight) {
  return weight.detach().square().sum(others(weight, 0)).sqrt();
}

torch::Tensor channel_norms(const torch::Tensor& weight) {
  return weight.detach().square().sum(others(weight, 1)).sqrt();
}

torch::Tensor shape_norms(const torch::Tensor& weight) {
  return weight.detach().square().sum(0).sqrt();
}

torch::Tensor shrinkage(const torch::Tensor& norms, const torch::Tensor& threshold,
                        const torch::Tensor& largest) {
  const torch::Tensor least = torch::minimum(threshold, 0.9 * largest);
  return torch::where(norms > 0, (1 - least / norms).clamp_min(0), torch::zeros_like(norms));
}

void shrink(const torch::Tensor& weight, GroupKind kind, double strength, double n) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor norms = norms_of(weight, kind);
  const torch::Tensor threshold = torch::full({}, strength * std::sqrt(n), norms.options());
  torch::Tensor factor = shrinkage(norms, threshold, norms.max());
  if (kind == GroupKind::shapes) {
    factor = factor.unsqueeze(0);
  } else {
    std::vector<std::int64_t> shape(static_cast<std::size_t>(weight.dim()), 1);
    shape[kind == GroupKind::filters ? 0 : 1] = -1;
    factor = factor.view(shape);
  }
  torch::Tensor(weight).mul_(factor);
}

std::vector<double> to_doubles(const torch::Tensor& values) {
  const torch::Tensor host = values.detach().to(torch::kDouble).to(torch::kCPU).contiguous();
  const auto* first = host.const_data_ptr<double>();
  return {first, first + host.numel()};
}

}  // namespace winnow
