// Kernels of training on this machine, for tests that need them.
#pragma once

#include "prune/training/device.h"
#include "tests/training/torch_doctest.h"

namespace winnow {

// Those that `find` has on a GPU, or null with a word, by which ctest counts the test as skipped.
template <typename Kernels>
const Kernels* kernels_here(const Kernels* (*find)(const torch::Device&)) {
  const Kernels* kernels = find(resolve_device("auto"));
  if (!kernels) MESSAGE("skipped: no GPU, or no module with kernels of training");
  return kernels;
}

}  // namespace winnow
