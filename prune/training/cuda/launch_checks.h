// What turns launches into LibTorch's errors and streams.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAStream.h>

namespace winnow {

// Throws unless a launcher returned null.
inline void require(const char* error) {
  TORCH_CHECK(error == nullptr, "a kernel of training: ", error);
}

// The current one of the tensor's device.
inline cudaStream_t stream_of(const at::Tensor& tensor) {
  return c10::cuda::getCurrentCUDAStream(tensor.device().index()).stream();
}

}  // namespace winnow
