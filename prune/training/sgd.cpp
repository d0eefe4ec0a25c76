#include "prune/training/sgd.h"

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
    if (is_decayed[i]) decayed_.push_back(i);
  }
}

void Sgd::step(double rate) {
  const torch::NoGradGuard no_grad;
  Tensors gradients = take_gradients(parameters_);
  if (options_.clip_norm > 0) clip(gradients, options_.clip_norm);
  if (options_.weight_decay > 0 && !decayed_.empty()) {
    Tensors some_gradients, some_parameters;
    for (const std::size_t i : decayed_) {
      some_gradients.push_back(gradients[i]);
      some_parameters.push_back(parameters_[i]);
    }
    torch::_foreach_add_(some_gradients, some_parameters, options_.weight_decay);
  }
  torch::_foreach_mul_(momenta_, options_.momentum);
  torch::_foreach_add_(momenta_, gradients);
  if (options_.is_nesterov) {
    torch::_foreach_add_(gradients, momenta_, options_.momentum);
    torch::_foreach_add_(parameters_, gradients, -rate);
  } else {
    torch::_foreach_add_(parameters_, momenta_, -rate);
  }
}

}  // namespace winnow
