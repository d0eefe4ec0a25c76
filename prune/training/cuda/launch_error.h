#pragma once

#include <cuda_runtime.h>

namespace winnow {

// Null where there is no error.
inline const char* text_of(cudaError_t error) {
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

// Of the last launch.
inline const char* launch_error() {
  return text_of(cudaGetLastError());
}

}  // namespace winnow
