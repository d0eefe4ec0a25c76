#include "prune/training/steps/sgd_kernels.h"

#include "prune/training/module_kernels.h"

namespace winnow {

const SgdKernels* sgd_kernels(const torch::Device& device) {
  return module_kernels<SgdKernels>(device, "winnow_sgd_kernels");
}

}  // namespace winnow
