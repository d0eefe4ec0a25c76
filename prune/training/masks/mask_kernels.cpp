#include "prune/training/masks/mask_kernels.h"

#include "prune/training/cuda_module.h"

namespace winnow {

const MaskKernels* mask_kernels(const torch::Device& device) {
  return module_kernels<MaskKernels>(device, WINNOW_CUDA_STEPS, "winnow_mask_kernels");
}

}  // namespace winnow
