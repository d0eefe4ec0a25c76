// Launchers of what curves of magnitudes are read from: a layer's values in order, and parts of
// what lies in order. They know no LibTorch. All pointers are device memory; each function returns
// a CUDA error's text, or null.
#pragma once

#include <cstddef>

#include "prune/training/cuda/launch_error.h"

namespace winnow {

struct SortCall {
  int device = 0;
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;        // [workspace_bytes]
  std::size_t workspace_bytes = 0;  // at least sort_workspace() of `count`
  const float* values = nullptr;    // [count], none below 0; NaNs have no sign
  float* sorted = nullptr;          // [count], written: NaNs, then the largest first
  unsigned count = 0;
};

// Bytes of workspace that `count` values need on the device.
const char* sort_workspace(int device, unsigned count, std::size_t& bytes);

// Radix sort of CUB: Adinets and Merrill, "Onesweep: a faster least significant digit radix sort
// for GPUs", 2022.
const char* launch_sort(const SortCall& call);

// Values `first` to `last` of what was sorted.
struct SortedPart {
  unsigned first = 0, last = 0;
};

struct PartsCall {
  int device = 0;
  cudaStream_t stream = nullptr;
  const float* sorted = nullptr;      // what the parts are of
  const SortedPart* parts = nullptr;  // [count]
  unsigned count = 0;                 // at least 1
  double* lasts = nullptr;            // [count], written: the last value of each part
  double* squares = nullptr;          // [count], written: the sum of the squares of all of them
};

const char* launch_parts(const PartsCall& call);

}  // namespace winnow
