// What a profiler sees that waits for the program to tell it (ncu --profile-from-start off).
#pragma once

#include <cuda_profiler_api.h>

#include "runtime/device/cuda_check.h"

namespace winnow {

// Lets the profiler see what the current GPU is told to do while this exists. Wait for the GPU
// before it ends. The constructor throws Error{device}.
class ProfiledRange {
 public:
  ProfiledRange() { CUDA_CHECK(cudaProfilerStart()); }
  ~ProfiledRange() { cudaProfilerStop(); }
  ProfiledRange(const ProfiledRange&) = delete;
  ProfiledRange& operator=(const ProfiledRange&) = delete;
};

}  // namespace winnow
