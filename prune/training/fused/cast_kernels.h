// Weights cast to bf16, and their gradients back, by a kernel of our own: one launch for many
// tensors, where autocast takes one for each.
#pragma once

#include <torch/types.h>

#include <span>
#include <vector>

namespace winnow {

class CastKernels {
 public:
  virtual ~CastKernels() = default;

  // Each of `to` becomes the one of `from`, rounded to nearest, ties to even: all of f32 to bf16,
  // or all of bf16 to f32. Both have no gaps and the same layout (has_layout_of()). Work of the
  // current stream.
  virtual void cast(std::span<const torch::Tensor> from,
                    std::span<const torch::Tensor> to) const = 0;
};

// None on the CPU, and where the module is missing or was built without a CUDA compiler.
const CastKernels* cast_kernels(const torch::Device& device);

// Copies of `weights` (f32, without gaps) in bf16, through which gradients reach the weights: bit
// for bit what autocast makes of them.
std::vector<torch::Tensor> cast_weights(const std::vector<torch::Tensor>& weights,
                                        const CastKernels& kernels);

// Whether operations on `device` that autocast takes to lower precision run in bf16 now.
bool casts_to_bf16(const torch::Device& device);

}  // namespace winnow
