// Kernels of our own for networks in training on a GPU, where LibTorch's take several times what
// memory needs: batch norm with the sum and the ReLU behind it, and max pools of 2 x 2. They lie in
// a module that is opened when a GPU is used (prune/training/cuda).
#pragma once

#include <torch/types.h>

namespace winnow {

struct NormOptions {
  double momentum = 0.1, epsilon = 1e-5;
  bool has_addend = false, has_relu = false;
};

// Images are [N, channels, height, width] in channels-last layout, of f32 or bf16; what belongs to
// channels is f32. Calls are work of the current stream, and equal inputs give equal bits.
class FusedKernels {
 public:
  struct Norm {
    torch::Tensor output, mean, inverse_deviation;
  };
  struct NormGradients {
    torch::Tensor input, weight, bias;
    torch::Tensor addend = {};  // with `options.has_addend`
  };

  virtual ~FusedKernels() = default;

  // As LibTorch's batch norm in training, then its sum with `addend` (is_addend()) with
  // `options.has_addend`, then its ReLU with `options.has_relu`. With an addend values are rounded
  // after each of them, as LibTorch does: they have the bits of its sum and ReLU behind this norm.
  // Brings the running statistics up to date.
  virtual Norm norm(const torch::Tensor& input, const torch::Tensor& weight,
                    const torch::Tensor& bias, const torch::Tensor& running_mean,
                    const torch::Tensor& running_var, const torch::Tensor& addend,
                    const NormOptions& options) const = 0;

  // From the gradient by norm()'s output, of its input's type and layout. With an addend and a ReLU
  // `norm` has the output.
  virtual NormGradients norm_backward(const torch::Tensor& gradient, const torch::Tensor& input,
                                      const torch::Tensor& weight, const torch::Tensor& bias,
                                      const Norm& norm, const NormOptions& options) const = 0;

  // As LibTorch's batch norm in evaluation, by the running statistics, with the sum and the ReLU as
  // norm() has them. Has no gradients.
  virtual torch::Tensor evaluated_norm(const torch::Tensor& input, const torch::Tensor& weight,
                                       const torch::Tensor& bias, const torch::Tensor& running_mean,
                                       const torch::Tensor& running_var,
                                       const torch::Tensor& addend,
                                       const NormOptions& options) const = 0;

  // The largest of each window of 2 x 2, for even heights and widths.
  virtual torch::Tensor pool(const torch::Tensor& input) const = 0;
  virtual torch::Tensor pool_backward(const torch::Tensor& gradient,
                                      const torch::Tensor& input) const = 0;
};

// None on the CPU, and where the module is missing or was built without a CUDA compiler.
const FusedKernels* fused_kernels(const torch::Device& device);

// Whether the kernels take images like these.
bool is_fusible(const torch::Tensor& images);

// Whether norm() adds this tensor to the norm of such images: it is like them.
inline bool is_addend(const torch::Tensor& addend, const torch::Tensor& images) {
  return addend.defined() && addend.sizes() == images.sizes() &&
         addend.scalar_type() == images.scalar_type() && addend.device() == images.device() &&
         addend.is_contiguous(torch::MemoryFormat::ChannelsLast);
}

}  // namespace winnow
