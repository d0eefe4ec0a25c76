#include "prune/training/steps/batch_kernels.h"

#include "prune/training/module_kernels.h"

namespace winnow {

const BatchKernels* batch_kernels(const torch::Device& device) {
  return module_kernels<BatchKernels>(device, "winnow_batch_kernels");
}

}  // namespace winnow
