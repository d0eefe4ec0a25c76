// Sgd's whole step over all parameters in one pass over memory, by a kernel of our own on a GPU.
#pragma once

#include <torch/types.h>

#include <span>

namespace winnow {

struct SgdOptions {
  double momentum = 0.9;
  bool is_nesterov = true;
  double weight_decay = 5e-4;
  double clip_norm = 0.0;  // gradients are scaled down to this norm over all parameters; 0: never
};

// Of one parameter: f32 without gaps, all with the weight's layout (has_layout_of()). The factor
// and the sum of gradients may be undefined.
struct SgdTensors {
  torch::Tensor weight, gradient, momentum, factor, gradient_sum;
  bool is_decayed = false;
};

class SgdKernels {
 public:
  virtual ~SgdKernels() = default;

  // SGD in fp32, as LibTorch's fused one has it since 2.11, for a momentum that is not 0; weights
  // and momenta are then multiplied by the factors. Gradients, which are clipped before, are added
  // to their sums. `rate` is one float on the same GPU. Work of the current stream; a recording of
  // it holds as long as the tensors stay where they are.
  virtual void step(std::span<const SgdTensors> all, const SgdOptions& options,
                    const torch::Tensor& rate) const = 0;
};

// None on the CPU, and where the module is missing or was built without a CUDA compiler.
const SgdKernels* sgd_kernels(const torch::Device& device);

}  // namespace winnow
