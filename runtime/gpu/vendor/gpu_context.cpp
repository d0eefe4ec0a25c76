#include "runtime/gpu/vendor/gpu_context.h"

#include "runtime/device/cuda_check.h"
#include "runtime/device/gpu.h"
#include "runtime/gpu/vendor/library_handles.h"

namespace winnow {
namespace {

// The stream of a context is made on its device, so this runs before the members.
int selected(int gpu) {
  select_gpu(gpu);
  return gpu;
}

}  // namespace

GpuContext::GpuContext(int gpu)
    : gpu_(selected(gpu)), libraries_(std::make_unique<LibraryHandles>()) {
  CUDA_CHECK(cudaGetDeviceProperties(&properties_, gpu_));
}

GpuContext::~GpuContext() = default;

LibraryHandles& GpuContext::libraries() {
  return *libraries_;
}

cublasLtHandle_t cublaslt_handle(GpuContext& gpu) {
  CublasLtHandle& handle = gpu.libraries().cublaslt;
  if (handle.get() == nullptr) handle = make_cublaslt_handle();
  return handle.get();
}

#ifdef WINNOW_HAS_CUDNN
cudnnHandle_t cudnn_handle(GpuContext& gpu) {
  CudnnHandle& handle = gpu.libraries().cudnn;
  if (handle.get() == nullptr) handle = make_cudnn_handle();
  return handle.get();
}
#endif

}  // namespace winnow
