// cuDNN 9, opened when the first layer wants it. Only the dense family includes this.
#pragma once

#include <cudnn.h>

#include <string>
#include <utility>

#include "runtime/device/dynamic_library.h"

#define CUDNN_CHECK(cudnn, call) ::winnow::check_cudnn((cudnn), (call), #call, __FILE__, __LINE__)

// Every function of cuDNN that we call.
#define WINNOW_CUDNN_FUNCTIONS(apply)                                                              \
  apply(cudnnGetVersion) apply(cudnnGetErrorString) apply(cudnnCreate) apply(cudnnDestroy)         \
      apply(cudnnSetStream) apply(cudnnCreateTensorDescriptor) apply(cudnnDestroyTensorDescriptor) \
          apply(cudnnSetTensor4dDescriptor) apply(cudnnCreateFilterDescriptor)                     \
              apply(cudnnDestroyFilterDescriptor) apply(cudnnSetFilter4dDescriptor) apply(         \
                  cudnnCreateConvolutionDescriptor) apply(cudnnDestroyConvolutionDescriptor)       \
                  apply(cudnnSetConvolution2dDescriptor) apply(cudnnSetConvolutionMathType)        \
                      apply(cudnnSetConvolutionGroupCount) apply(cudnnCreateActivationDescriptor)  \
                          apply(cudnnDestroyActivationDescriptor)                                  \
                              apply(cudnnSetActivationDescriptor)                                  \
                                  apply(cudnnGetConvolutionForwardWorkspaceSize)                   \
                                      apply(cudnnConvolutionForward)                               \
                                          apply(cudnnConvolutionBiasActivationForward)             \
                                              apply(cudnnAddTensor)                                \
                                                  apply(cudnnBackendCreateDescriptor)              \
                                                      apply(cudnnBackendDestroyDescriptor)         \
                                                          apply(cudnnBackendSetAttribute)          \
                                                              apply(cudnnBackendGetAttribute)      \
                                                                  apply(cudnnBackendFinalize)      \
                                                                      apply(cudnnBackendExecute)

namespace winnow {

// cuDNN marks the convolution functions used here as deprecated in favour of its graph interface;
// both are timed, so both stay.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
struct Cudnn {
#define WINNOW_DECLARE(name) decltype(&::name) name = nullptr;
  WINNOW_CUDNN_FUNCTIONS(WINNOW_DECLARE)
#undef WINNOW_DECLARE
  std::string path;

  // Throws Error{device} if it is not found or is no version 9; the message lists where it looked.
  static const Cudnn& get();
};
#pragma GCC diagnostic pop

// Throws Error{device} unless the status is success.
void check_cudnn(const Cudnn& cudnn, cudnnStatus_t status, const char* call, const char* file,
                 int line);

// A move-only owner of a cuDNN object: its destroy function is a member of Cudnn.
template <typename Handle, auto kDestroy>
class CudnnObject {
 public:
  CudnnObject() = default;
  CudnnObject(const Cudnn& cudnn, Handle handle) : cudnn_(&cudnn), handle_(handle) {}
  ~CudnnObject() {
    if (handle_ != nullptr) (cudnn_->*kDestroy)(handle_);
  }
  CudnnObject(CudnnObject&& other) noexcept
      : cudnn_(other.cudnn_), handle_(std::exchange(other.handle_, nullptr)) {}
  CudnnObject& operator=(CudnnObject&& other) noexcept {
    std::swap(cudnn_, other.cudnn_);
    std::swap(handle_, other.handle_);
    return *this;
  }

  Handle get() const { return handle_; }

 private:
  const Cudnn* cudnn_ = nullptr;
  Handle handle_ = nullptr;
};

using CudnnHandle = CudnnObject<cudnnHandle_t, &Cudnn::cudnnDestroy>;
CudnnHandle make_cudnn_handle();

}  // namespace winnow
