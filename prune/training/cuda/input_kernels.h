// The launcher of the kernel that makes a batch's input of its bytes. It knows no LibTorch.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace winnow {

enum class InputType { f32, bf16, f16 };

// All pointers are device memory.
struct InputCall {
  int device = 0;
  cudaStream_t stream = nullptr;
  InputType type = InputType::f32;
  bool is_channels_last = false;
  std::int64_t images = 0;
  int channels = 0, height = 0, width = 0;
  std::int64_t cutout = 0;                // side of the holes; 0: there are none
  const std::uint8_t* bytes = nullptr;    // [images, channels, height, width]
  const std::int64_t* changes = nullptr;  // [images, 5] as in DrawnBatch; null: none
  const float* values = nullptr;          // [channels, 256], the input for every byte
  void* output = nullptr;                 // [images, channels, height, width], written
};

// Returns a CUDA error's text, or null.
const char* launch_input(const InputCall& call);

}  // namespace winnow
