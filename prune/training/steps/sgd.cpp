#include "prune/training/steps/sgd.h"

#include <torch/torch.h>

#include "runtime/base/error.h"

namespace winnow {
namespace {

using Tensors = std::vector<torch::Tensor>;

Tensors take_gradients(Tensors& parameters) {
  Tensors gradients;
  gradients.reserve(parameters.size());
  for (torch::Tensor& parameter : parameters) {
    if (!parameter.grad().defined()) fail(ErrorCode::internal, "Sgd: a gradient is missing");
    gradients.push_back(parameter.grad());
    parameter.mutable_grad() = torch::Tensor();  // backward then hands over its own buffer
  }
  return gradients;
}

// Scales all gradients by min(1, limit / norm) without waiting for the device.
void clip(Tensors& gradients, double limit) {
  const torch::Tensor norm = torch::stack(torch::_foreach_norm(gradients)).norm();
  torch::_foreach_mul_(gradients, (limit / (norm + 1e-6)).clamp_max(1.0));
}

}  // namespace

Sgd::Sgd(Tensors parameters, std::vector<bool> is_decayed, const SgdOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    momenta_.push_back(torch::zeros_like(parameters_[i]).detach());
    (is_decayed[i] ? decayed_ : not_decayed_).push_back(i);
  }
}

void Sgd::step(const torch::Tensor& rate) {
  const torch::NoGradGuard no_grad;
  Tensors gradients = take_gradients(parameters_);
  if (options_.clip_norm > 0) clip(gradients, options_.clip_norm);
  update(decayed_, gradients, options_.weight_decay, rate);
  update(not_decayed_, gradients, 0.0, rate);
}

void Sgd::update(const std::vector<std::size_t>& indices, const Tensors& gradients,
                 double weight_decay, const torch::Tensor& rate) {
  if (indices.empty()) return;
  Tensors some_parameters, some_gradients, some_momenta;
  for (const std::size_t i : indices) {
    some_parameters.push_back(parameters_[i]);
    some_gradients.push_back(gradients[i]);
    if (options_.momentum > 0) some_momenta.push_back(momenta_[i]);  // else LibTorch wants none
  }
  torch::_fused_sgd_(some_parameters, some_gradients, some_momenta, weight_decay, options_.momentum,
                     rate, /*dampening=*/0.0, options_.is_nesterov, /*maximize=*/false,
                     /*is_first_step=*/false);
}

}  // namespace winnow
