// Launchers of the kernels for batch norm. They know no LibTorch.
//
// Tensors have the layout [rows, channels], which is channels-last: rows = N * H * W. All pointers
// are device memory, aligned to 16 bytes. A launch returns a CUDA error's text, or null.
#pragma once

#include "prune/training/cuda/image_launch.h"
#include "prune/training/cuda/launch_error.h"

namespace winnow {

struct NormCall {
  int device = 0;
  cudaStream_t stream = nullptr;
  ImageType type = ImageType::f32;  // of inputs, outputs and their gradients
  bool has_addend = false, has_relu = false;
  std::int64_t rows = 0;
  std::int64_t channels = 0;  // a multiple of pack_size(type)
};

// Floats of workspace that a call needs.
std::int64_t norm_workspace(const NormCall& call);

struct NormForward {
  const void* input = nullptr;
  const float *weight = nullptr, *bias = nullptr;         // [channels]
  float *running_mean = nullptr, *running_var = nullptr;  // [channels], launch_norm updates them
  double momentum = 0.1, epsilon = 1e-5;
  float *mean = nullptr, *inverse_deviation = nullptr;  // [channels], launch_norm writes them
  const void* addend = nullptr;                         // with has_addend
  void* output = nullptr;
  float* workspace = nullptr;
};

// output = weight (input - mean) inverse_deviation + bias (+ addend), with has_relu its positive
// part, where mean and variance are those of the channel: Ioffe and Szegedy, "Batch normalization",
// 2015. Before an addend is added, and again behind it, values are rounded to the type.
const char* launch_norm(const NormCall& call, const NormForward& norm);

// The same with the running statistics, which stay as they are, in the batch's place. Needs neither
// mean and inverse_deviation nor a workspace.
const char* launch_evaluated_norm(const NormCall& call, const NormForward& norm);

struct NormBackward {
  const void *gradient = nullptr, *input = nullptr;
  const float *weight = nullptr, *bias = nullptr;
  const float *mean = nullptr, *inverse_deviation = nullptr;  // of launch_norm
  // With has_addend and has_relu: what launch_norm wrote, and the gradient by the addend, which
  // without a ReLU is that by the output.
  const void* output = nullptr;
  void* addend_gradient = nullptr;
  void* input_gradient = nullptr;
  float *weight_gradient = nullptr, *bias_gradient = nullptr;
  float* workspace = nullptr;
};

// The gradients of a loss by input, weight and bias from that by output.
const char* launch_norm_backward(const NormCall& call, const NormBackward& norm);

}  // namespace winnow
