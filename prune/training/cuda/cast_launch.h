// Launchers of the kernels that cast many tensors at once. They know no LibTorch.
#pragma once

#include <cstdint>
#include <span>

#include "prune/training/cuda/launch_error.h"

namespace winnow {

// Device memory: `count` elements of each.
struct CastEntry {
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t count = 0;
};

struct CastCall {
  int device = 0;
  cudaStream_t stream = nullptr;
  bool to_bf16 = false;  // from f32; else the other way
};

// CastKernels::cast. Returns a CUDA error's text, or null.
const char* launch_casts(const CastCall& call, std::span<const CastEntry> entries);

}  // namespace winnow
