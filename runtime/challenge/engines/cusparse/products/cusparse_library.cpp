#include "runtime/challenge/engines/cusparse/products/cusparse_library.h"

#include <cuda_runtime_api.h>

#include "runtime/base/error.h"

namespace winnow::challenge {
namespace {

// cuSPARSE needs nvJitLink. Loading the one beside it first keeps an older one on the loader's path
// from being taken.
void preload_nvjitlink(const std::vector<std::string>& folders) {
  try {
    DynamicLibrary::open({"libnvJitLink.so." + std::to_string(CUDART_VERSION / 1000)}, folders);
  } catch (const Error&) {  // opening cuSPARSE says what is missing
  }
}

DynamicLibrary open() {
  const std::vector<std::string> folders = library_folders("WINNOW_CUSPARSE_DIR", "cusparse");
  preload_nvjitlink(folders);
  return DynamicLibrary::open({"libcusparse.so." + std::to_string(CUSPARSE_VER_MAJOR)}, folders);
}

}  // namespace

const Cusparse& Cusparse::get() {
  static const Cusparse cusparse(open());
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
