// Launchers of what curves of magnitudes are read from: a layer's values in order, and parts of
// what lies in order. They know no LibTorch. All pointers are device memory.
#pragma once

#include <cstddef>

#include "prune/training/cuda/launch_error.h"

namespace winnow {

struct SortCall {
  int device = 0;
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;        // [workspace_bytes]
  std::size_t workspace_bytes = 0;  // sort_workspace()
  const float* values = nullptr;    // [count]
  float* sorted = nullptr;          // [count], written: no numbers, then the largest first
  unsigned count = 0;
};

// Bytes of workspace that `count` values need on the device; fewer values need no more.
const char* sort_workspace(int device, unsigned count, std::size_t& bytes);

// Radix sort: Merrill and Grimshaw, "High performance and scalable radix sorting", 2011, as CUB
// has it.
const char* launch_sort(const SortCall& call);

// Values `first` to `last` of what was sorted.
struct SortedPart {
  const float* sorted = nullptr;
  unsigned first = 0, last = 0;
};

struct PartsCall {
  int device = 0;
  cudaStream_t stream = nullptr;
  const SortedPart* parts = nullptr;  // [count]
  unsigned count = 0;                 // at least 1
  double* lasts = nullptr;            // [count], written: the last value of each part
  double* squares = nullptr;          // [count], written: the sum of the squares of all of them
};

const char* launch_parts(const PartsCall& call);

}  // namespace winnow
