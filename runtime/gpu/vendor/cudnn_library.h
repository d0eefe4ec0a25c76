// cuDNN 9, opened when the first layer wants it.
#pragma once

#include <cudnn.h>

#include "runtime/device/vendor_library.h"

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
  WINNOW_CUDNN_FUNCTIONS(WINNOW_DECLARE_FUNCTION)

  explicit Cudnn(const DynamicLibrary& library) { WINNOW_CUDNN_FUNCTIONS(WINNOW_LOAD_FUNCTION) }

  // Throws Error{device} if it is not found or is no version 9; the message lists where it looked.
  static const Cudnn& get();
};
#pragma GCC diagnostic pop

// Throws Error{device} unless the status is success.
void check_cudnn(const Cudnn& cudnn, cudnnStatus_t status, const char* call, const char* file,
                 int line);

template <typename Handle, auto kDestroy>
using CudnnObject = VendorObject<Cudnn, Handle, kDestroy>;

using CudnnHandle = CudnnObject<cudnnHandle_t, &Cudnn::cudnnDestroy>;
using TensorDescriptor = CudnnObject<cudnnTensorDescriptor_t, &Cudnn::cudnnDestroyTensorDescriptor>;
using FilterDescriptor = CudnnObject<cudnnFilterDescriptor_t, &Cudnn::cudnnDestroyFilterDescriptor>;
using ConvDescriptor =
    CudnnObject<cudnnConvolutionDescriptor_t, &Cudnn::cudnnDestroyConvolutionDescriptor>;
using ActivationDescriptor =
    CudnnObject<cudnnActivationDescriptor_t, &Cudnn::cudnnDestroyActivationDescriptor>;
CudnnHandle make_cudnn_handle();

}  // namespace winnow
