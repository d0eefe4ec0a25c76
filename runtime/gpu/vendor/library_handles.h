// The libraries' handles of one GPU. Includes the libraries' own headers, which others do without.
#pragma once

#include "runtime/gpu/vendor/cublaslt_library.h"
#include "runtime/gpu/vendor/gpu_context.h"

#ifdef WINNOW_HAS_CUDNN
#include "runtime/gpu/vendor/cudnn_library.h"
#endif

namespace winnow {

struct LibraryHandles {
  CublasLtHandle cublaslt;
#ifdef WINNOW_HAS_CUDNN
  CudnnHandle cudnn;
#endif
};

// The handle of `gpu`, made on the first call. Throw Error{device} if the library is missing.
cublasLtHandle_t cublaslt_handle(GpuContext& gpu);
#ifdef WINNOW_HAS_CUDNN
cudnnHandle_t cudnn_handle(GpuContext& gpu);
#endif

}  // namespace winnow
