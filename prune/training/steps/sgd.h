// Stochastic gradient descent over all parameters at once.
#pragma once

#include <torch/types.h>

#include <span>
#include <vector>

#include "prune/training/steps/sgd_kernels.h"

namespace winnow {

// What masks want of a step: lists of one tensor per parameter, or empty. An undefined tensor
// leaves its parameter out.
struct SgdMasking {
  // Multiply the parameter and its momentum after the step.
  std::span<const torch::Tensor> factors = {};
  // The gradients, as they are before clipping, are added to these.
  std::span<const torch::Tensor> gradient_sums = {};
};

// With g the gradient plus weight_decay * w and m the momentum, per step:
//   m <- momentum m + g;   w <- w - rate (g + momentum m)   (Nesterov; else w - rate m)
// as Sutskever et al., "On the importance of initialization and momentum", ICML 2013, in
// LibTorch's form and by its fused kernels or our own: a few launches, however many parameters
// there are.
class Sgd {
 public:
  // `parameters` share storage with the network's. Weight decay applies where `is_decayed`. Steps
  // are those of `kernels` where these cover them.
  Sgd(std::vector<torch::Tensor> parameters, std::vector<bool> is_decayed,
      const SgdOptions& options, const SgdKernels* kernels = nullptr);

  // Reads the gradients and drops them. `rate` is one float on the parameters' device, so that a
  // recorded step can be launched with another one. Throws Error{internal} if a gradient is
  // missing.
  void step(const torch::Tensor& rate, SgdMasking masking = {});

  const std::vector<torch::Tensor>& parameters() const { return parameters_; }

  // One per parameter, with its strides; zeros at first.
  const std::vector<torch::Tensor>& momenta() const { return momenta_; }

 private:
  bool step_at_once(const std::vector<torch::Tensor>& gradients, const torch::Tensor& rate,
                    const SgdMasking& masking);
  void update(bool is_decayed, const std::vector<torch::Tensor>& gradients,
              const torch::Tensor& rate);
  void multiply(std::span<const torch::Tensor> factors);

  std::vector<torch::Tensor> parameters_;
  std::vector<torch::Tensor> momenta_;
  std::vector<bool> is_decayed_;
  SgdOptions options_;
  const SgdKernels* kernels_;
};

}  // namespace winnow
