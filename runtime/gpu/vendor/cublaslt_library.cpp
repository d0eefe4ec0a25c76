#include "runtime/gpu/vendor/cublaslt_library.h"

#include "runtime/base/error.h"
#include "runtime/device/nvidia_libraries.h"

namespace winnow {

const CublasLt& CublasLt::get() {
  static const CublasLt cublaslt(open_cublaslt());
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
