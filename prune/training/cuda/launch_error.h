#pragma once

#include <cuda_runtime.h>

namespace winnow {

// The text of the last launch's error; null if there is none.
inline const char* launch_error() {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

}  // namespace winnow
