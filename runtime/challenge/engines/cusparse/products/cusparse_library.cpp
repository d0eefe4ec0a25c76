#include "runtime/challenge/engines/cusparse/products/cusparse_library.h"

#include "runtime/base/error.h"
#include "runtime/device/nvidia_libraries.h"

namespace winnow::challenge {

const Cusparse& Cusparse::get() {
  static const Cusparse cusparse(open_cusparse());
  return cusparse;
}

void check_cusparse(cusparseStatus_t status, const char* call, const char* file, int line) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  fail(ErrorCode::device, file, ":", line, ": ", call, ": ",
       Cusparse::get().cusparseGetErrorString(status));
}

CusparseHandle make_cusparse_handle(cudaStream_t stream) {
  cusparseHandle_t made = nullptr;
  CUSPARSE_CHECK(Cusparse::get().cusparseCreate(&made));
  CusparseHandle handle(made);
  CUSPARSE_CHECK(Cusparse::get().cusparseSetStream(made, stream));
  return handle;
}

std::string cusparse_name(cusparseHandle_t handle) {
  int version = 0;
  CUSPARSE_CHECK(Cusparse::get().cusparseGetVersion(handle, &version));
  return "cuSPARSE " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 100);
}

}  // namespace winnow::challenge
