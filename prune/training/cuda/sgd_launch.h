// Launcher of the kernel for SGD over all parameters. It knows no LibTorch.
#pragma once

#include <cstdint>
#include <span>

#include "prune/training/cuda/launch_error.h"

namespace winnow {

// Device memory, `count` floats each; the factor and the sum may be null.
struct SgdEntry {
  float* weight = nullptr;
  const float* gradient = nullptr;
  float* momentum = nullptr;
  const float* factor = nullptr;
  float* gradient_sum = nullptr;
  std::int64_t count = 0;
  bool is_decayed = false;
};

struct SgdCall {
  int device = 0;
  cudaStream_t stream = nullptr;
  double momentum = 0.0, weight_decay = 0.0;
  bool is_nesterov = false;
  const float* rate = nullptr;  // one float in device memory, read when the kernel runs
};

// SgdKernels::step. Returns a CUDA error's text, or null.
const char* launch_sgd(const SgdCall& call, std::span<const SgdEntry> entries);

}  // namespace winnow
