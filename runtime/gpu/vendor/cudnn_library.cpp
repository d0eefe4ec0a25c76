#include "runtime/gpu/vendor/cudnn_library.h"

#include "runtime/base/error.h"
#include "runtime/gpu/vendor/library_places.h"

namespace winnow {
Cudnn::Cudnn(const DynamicLibrary& library) {
  WINNOW_CUDNN_FUNCTIONS(WINNOW_LOAD_FUNCTION)
  const std::size_t version = cudnnGetVersion();
  if (version / 10000 != CUDNN_MAJOR) {
    fail(ErrorCode::device, library.path(), ": is cuDNN ", version, ", expected version ",
         CUDNN_MAJOR);
  }
}

const Cudnn& Cudnn::get() {
  // cuDNN itself needs cuBLASLt; loading ours first lets it find the same one.
  static const bool is_blas_loaded = preload_cublaslt();
  static_cast<void>(is_blas_loaded);
  static const Cudnn cudnn(
      DynamicLibrary::open({"libcudnn.so.9"}, library_folders("WINNOW_CUDNN_DIR", "cudnn")));
  return cudnn;
}

void check_cudnn(const Cudnn& cudnn, cudnnStatus_t status, const char* call, const char* file,
                 int line) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  fail(ErrorCode::device, file, ":", line, ": ", call, ": ", cudnn.cudnnGetErrorString(status));
}

CudnnHandle make_cudnn_handle() {
  const Cudnn& cudnn = Cudnn::get();
  cudnnHandle_t handle = nullptr;
  CUDNN_CHECK(cudnn, cudnn.cudnnCreate(&handle));
  return CudnnHandle(handle);
}

}  // namespace winnow
