// Launchers of the kernels for max pools of 2 x 2 in training. They know no LibTorch.
#pragma once

#include "prune/training/cuda/image_launch.h"
#include "prune/training/cuda/launch_error.h"

namespace winnow {

// Tensors in channels-last layout, device memory, aligned to 16 bytes: the input
// [images, height, width, channels], with even height and width; a launch returns a CUDA error's
// text, or null.
struct PoolCall {
  int device = 0;
  cudaStream_t stream = nullptr;
  ImageType type = ImageType::f32;
  std::int64_t images = 0, height = 0, width = 0;
  std::int64_t channels = 0;  // a multiple of pack_size(type)
};

// output [images, height / 2, width / 2, channels]: of each window the largest, or what is no
// number.
const char* launch_pool(const PoolCall& call, const void* input, void* output);

// The gradient by the input: that by the output where the window's first largest value was, else 0.
const char* launch_pool_backward(const PoolCall& call, const void* gradient, const void* input,
                                 void* input_gradient);

}  // namespace winnow
