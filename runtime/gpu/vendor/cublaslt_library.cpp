#include "runtime/gpu/vendor/cublaslt_library.h"

#include <cuda_runtime_api.h>

#include <string>

#include "runtime/base/error.h"

namespace winnow {
const CublasLt& CublasLt::get() {
  static const CublasLt cublaslt(
      DynamicLibrary::open({"libcublasLt.so." + std::to_string(CUDART_VERSION / 1000)},
                           library_folders("WINNOW_CUBLAS_DIR", "cublas")));
  return cublaslt;
}

void check_cublaslt(cublasStatus_t status, const char* call, const char* file, int line) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(ErrorCode::device, file, ":", line, ": ", call, ": cuBLAS status ",
       static_cast<int>(status));
}

CublasLtHandle make_cublaslt_handle() {
  cublasLtHandle_t handle = nullptr;
  CUBLASLT_CHECK(CublasLt::get().cublasLtCreate(&handle));
  return CublasLtHandle(handle);
}

}  // namespace winnow
