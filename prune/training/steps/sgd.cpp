#include "prune/training/steps/sgd.h"

#include <torch/types.h>

#include <utility>

#include "prune/training/tensor_layout.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

using Tensors = std::vector<torch::Tensor>;

// With the strides of the parameters: LibTorch's fused SGD goes through memory, whatever strides
// are.
Tensors take_gradients(Tensors& parameters) {
  Tensors gradients;
  gradients.reserve(parameters.size());
  for (torch::Tensor& parameter : parameters) {
    if (!parameter.grad().defined()) fail(ErrorCode::internal, "Sgd: a gradient is missing");
    gradients.push_back(laid_out_as(parameter.grad(), parameter));
    parameter.mutable_grad() = torch::Tensor();  // backward then hands over its own buffer
  }
  return gradients;
}

// Scales all gradients by min(1, limit / norm) without waiting for the device.
void clip(Tensors& gradients, double limit) {
  const torch::Tensor norm = torch::stack(torch::_foreach_norm(gradients)).norm();
  torch::_foreach_mul_(gradients, (limit / (norm + 1e-6)).clamp_max(1.0));
}

// Whether kernels can go through these element by element, in f32.
bool is_covered(const SgdTensors& one) {
  const auto fits = [&](const torch::Tensor& tensor) {
    return tensor.scalar_type() == torch::kFloat && has_layout_of(tensor, one.weight);
  };
  return one.weight.is_non_overlapping_and_dense() && fits(one.weight) && fits(one.gradient) &&
         fits(one.momentum) && (!one.factor.defined() || fits(one.factor)) &&
         (!one.gradient_sum.defined() || fits(one.gradient_sum));
}

torch::Tensor at(std::span<const torch::Tensor> tensors, std::size_t i) {
  return tensors.empty() ? torch::Tensor() : tensors[i];
}

void add_up(std::span<const torch::Tensor> sums, const Tensors& gradients) {
  Tensors defined, addends;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (!sums[i].defined()) continue;
    defined.push_back(sums[i]);
    addends.push_back(gradients[i]);
  }
  if (!defined.empty()) torch::_foreach_add_(defined, addends);
}

}  // namespace

Sgd::Sgd(Tensors parameters, std::vector<bool> is_decayed, const SgdOptions& options,
         const SgdKernels* kernels)
    : parameters_(std::move(parameters)),
      is_decayed_(std::move(is_decayed)),
      options_(options),
      kernels_(kernels) {
  for (const torch::Tensor& parameter : parameters_) {
    momenta_.push_back(torch::zeros_like(parameter).detach());
  }
}

void Sgd::step(const torch::Tensor& rate, SgdMasking masking) {
  const torch::NoGradGuard no_grad;
  Tensors gradients = take_gradients(parameters_);
  if (options_.clip_norm > 0) {
    add_up(std::exchange(masking.gradient_sums, {}), gradients);
    clip(gradients, options_.clip_norm);
  }
  if (step_at_once(gradients, rate, masking)) return;
  add_up(masking.gradient_sums, gradients);
  update(true, gradients, rate);
  update(false, gradients, rate);
  multiply(masking.factors);
}

bool Sgd::step_at_once(const Tensors& gradients, const torch::Tensor& rate,
                       const SgdMasking& masking) {
  if (!kernels_ || options_.momentum <= 0) return false;
  std::vector<SgdTensors> all;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    all.push_back({.weight = parameters_[i],
                   .gradient = gradients[i],
                   .momentum = momenta_[i],
                   .factor = at(masking.factors, i),
                   .gradient_sum = at(masking.gradient_sums, i),
                   .is_decayed = is_decayed_[i]});
    if (!is_covered(all.back())) return false;
  }
  kernels_->step(all, options_, rate);
  return true;
}

void Sgd::update(bool is_decayed, const Tensors& gradients, const torch::Tensor& rate) {
  Tensors some_parameters, some_gradients, some_momenta;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (is_decayed_[i] != is_decayed) continue;
    some_parameters.push_back(parameters_[i]);
    some_gradients.push_back(gradients[i]);
    if (options_.momentum > 0) some_momenta.push_back(momenta_[i]);  // else LibTorch wants none
  }
  if (some_parameters.empty()) return;
  torch::_fused_sgd_(some_parameters, some_gradients, some_momenta,
                     is_decayed ? options_.weight_decay : 0.0, options_.momentum, rate,
                     /*dampening=*/0.0, options_.is_nesterov, /*maximize=*/false,
                     /*is_first_step=*/false);
}

void Sgd::multiply(std::span<const torch::Tensor> factors) {
  Tensors values, factors_of_values;
  for (const Tensors* group : {&parameters_, &momenta_}) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if (!factors[i].defined()) continue;
      values.push_back((*group)[i]);
      factors_of_values.push_back(factors[i]);
    }
  }
  if (!values.empty()) torch::_foreach_mul_(values, factors_of_values);
}

}  // namespace winnow
