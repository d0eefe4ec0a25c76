#include "prune/training/steps/batch_kernels.h"

#include "prune/training/cuda_module.h"

namespace winnow {

const BatchKernels* batch_kernels(const torch::Device& device) {
  return module_kernels<BatchKernels>(device, WINNOW_CUDA_STEPS, "winnow_batch_kernels");
}

}  // namespace winnow
