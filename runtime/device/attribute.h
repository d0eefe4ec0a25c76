// Attributes of GPUs.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/device/cuda_check.h"

namespace winnow {

// Throws Error{device} if there is no such GPU.
inline int device_attribute(cudaDeviceAttr which, int gpu) {
  int value = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&value, which, gpu));
  return value;
}

// Of the calling thread's GPU.
inline int device_attribute(cudaDeviceAttr which) {
  int gpu = 0;
  CUDA_CHECK(cudaGetDevice(&gpu));
  return device_attribute(which, gpu);
}

}  // namespace winnow
