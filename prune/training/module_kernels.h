// Kernels of our own in the module of training steps. For sources of winnow_training alone.
#pragma once

#include <torch/types.h>

#include "prune/training/cuda_module.h"

namespace winnow {

// What the module's function `name` gives, one name for each kind; null on the CPU, and where the
// module is missing or was built without a CUDA compiler. Throws Error{device} as
// module_function().
template <typename Kernels>
const Kernels* module_kernels(const torch::Device& device, const char* name) {
  if (!device.is_cuda()) return nullptr;
  using Get = const Kernels* (*)();
  static const auto get = reinterpret_cast<Get>(module_function(WINNOW_CUDA_STEPS, name));
  return get ? get() : nullptr;
}

}  // namespace winnow
