// Turns a failed CUDA call into Error{device}.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/base/error.h"

#define CUDA_CHECK(call) ::winnow::check_cuda((call), #call, __FILE__, __LINE__)

namespace winnow {

inline void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears a recoverable error, or the next check would report it again
  fail(ErrorCode::device, file, ":", line, ": ", call, ": ", cudaGetErrorString(status));
}

}  // namespace winnow
