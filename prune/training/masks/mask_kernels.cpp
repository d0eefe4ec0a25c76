#include "prune/training/masks/mask_kernels.h"

#include "prune/training/module_kernels.h"

namespace winnow {

const MaskKernels* mask_kernels(const torch::Device& device) {
  return module_kernels<MaskKernels>(device, "winnow_mask_kernels");
}

}  // namespace winnow
