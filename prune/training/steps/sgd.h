// Stochastic gradient descent over all parameters at once.
#pragma once

#include <torch/types.h>

#include <vector>

namespace winnow {

struct SgdOptions {
  double momentum = 0.9;
  bool is_nesterov = true;
  double weight_decay = 5e-4;
  double clip_norm = 0.0;  // gradients are scaled down to this norm over all parameters; 0: never
};

// With g the gradient plus weight_decay * w and m the momentum, per step:
//   m <- momentum m + g;   w <- w - rate (g + momentum m)   (Nesterov; else w - rate m)
// as Sutskever et al., "On the importance of initialization and momentum", ICML 2013, in
// LibTorch's form and by its fused kernels: a few launches, however many parameters there are.
class Sgd {
 public:
  // `parameters` share storage with the network's. Weight decay applies where `is_decayed`.
  Sgd(std::vector<torch::Tensor> parameters, std::vector<bool> is_decayed,
      const SgdOptions& options);

  // Reads the gradients and drops them. `rate` is one float on the parameters' device, so that a
  // recorded step can be launched with another one. Throws Error{internal} if a gradient is
  // missing.
  void step(const torch::Tensor& rate);

  // One per parameter, with its strides; zeros at first.
  const std::vector<torch::Tensor>& momenta() const { return momenta_; }

 private:
  void update(const std::vector<std::size_t>& indices, const std::vector<torch::Tensor>& gradients,
              double weight_decay, const torch::Tensor& rate);

  std::vector<torch::Tensor> parameters_;
  std::vector<torch::Tensor> momenta_;
  std::vector<std::size_t> decayed_, not_decayed_;  // indices
  SgdOptions options_;
};

}  // namespace winnow
