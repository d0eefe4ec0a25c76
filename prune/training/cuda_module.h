// Modules beside the program that have what needs LibTorch's CUDA half (prune/training/cuda).
#pragma once

#include <torch/types.h>

namespace winnow {

// A function of the module `file`, which is opened; null where the module was not built. Throws
// Error{device} if it cannot be opened.
void* module_function(const char* file, const char* name);

// Kernels of our own, which function `name` of the module gives: none on the CPU, and where the
// module is missing or was built without a CUDA compiler.
template <typename Kernels>
const Kernels* module_kernels(const torch::Device& device, const char* file, const char* name) {
  if (!device.is_cuda()) return nullptr;
  using Get = const Kernels* (*)();
  static const auto get = reinterpret_cast<Get>(module_function(file, name));
  return get ? get() : nullptr;
}

}  // namespace winnow
