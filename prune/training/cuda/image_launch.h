// What launches of kernels over images in channels-last layout have in common.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace winnow {

enum class ImageType { f32, bf16 };

// Elements of 16 bytes, which kernels load at once.
constexpr std::int64_t pack_size(ImageType type) {
  return type == ImageType::f32 ? 4 : 8;
}

// The text of the last launch's error; null if there is none.
inline const char* launch_error() {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

}  // namespace winnow
