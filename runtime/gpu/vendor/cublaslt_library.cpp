#include "runtime/gpu/vendor/cublaslt_library.h"

#include <cuda_runtime_api.h>

#include "runtime/base/error.h"
#include "runtime/device/dynamic_library.h"

namespace winnow {
namespace {

CublasLt load() {
  const std::string name = "libcublasLt.so." + std::to_string(CUDART_VERSION / 1000);
  const DynamicLibrary library =
      DynamicLibrary::open({name}, library_folders("WINNOW_CUBLAS_DIR", "cublas"));
  CublasLt cublaslt;
#define WINNOW_LOAD(name) cublaslt.name = library.function<decltype(cublaslt.name)>(#name);
  WINNOW_CUBLASLT_FUNCTIONS(WINNOW_LOAD)
#undef WINNOW_LOAD
  return cublaslt;
}

}  // namespace

const CublasLt& CublasLt::get() {
  static const CublasLt cublaslt = load();
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
