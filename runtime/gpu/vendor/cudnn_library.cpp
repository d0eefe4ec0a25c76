#include "runtime/gpu/vendor/cudnn_library.h"

#include "runtime/base/error.h"
#include "runtime/device/nvidia_libraries.h"

namespace winnow {

static_assert(CUDNN_MAJOR == kCudnnMajor, "cudnn.h is of another version than what is opened");

const Cudnn& Cudnn::get() {
  static const Cudnn cudnn(open_cudnn());
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
