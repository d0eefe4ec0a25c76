// MaskKernels::importances of the module, and what its other kernels take of them.
#pragma once

#include <vector>

#include "prune/training/masks/mask_kernels.h"

namespace winnow {

std::vector<at::Tensor> importances_by_kernels(std::span<const RankedLayer> layers);

// Whether kernels can sort it or choose from it: f32, contiguous, on the device and of
// kMostKernelValues at most.
inline bool is_importance(const at::Tensor& tensor, const at::Device& device) {
  return tensor.scalar_type() == at::kFloat && tensor.is_contiguous() &&
         tensor.device() == device && tensor.numel() <= kMostKernelValues;
}

}  // namespace winnow
