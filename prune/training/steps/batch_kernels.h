// A kernel of our own that makes a batch's input on a GPU, where LibTorch takes some thirty
// launches. It lies in a module that is opened when a GPU is used (prune/training/cuda).
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace winnow {

// Form of Batch::input.
struct InputFormat {
  torch::Dtype dtype = torch::kFloat32;  // or kBFloat16, kFloat16: rounded from float
  bool is_channels_last = false;
  bool fuses_kernels = true;  // made by BatchKernels where the device has them
};

// What input() makes a batch of, on one GPU.
struct InputParts {
  torch::Tensor bytes;      // [B, C, H, W] uint8
  torch::Tensor changes;    // [B, 5] int64 as in DrawnBatch, or undefined: images stay as they are
  torch::Tensor values;     // [C * 256] f32, the input for every byte of every channel
  std::int64_t cutout = 0;  // side of the holes
};

class BatchKernels {
 public:
  virtual ~BatchKernels() = default;

  // [B, C, H, W] with the bits that LibTorch's operations give (batches.cpp). The call is work of
  // the current stream and can be recorded: it copies nothing from the host, nor waits.
  virtual torch::Tensor input(const InputParts& parts, const InputFormat& format) const = 0;
};

// None on the CPU, and where the module is missing or was built without a CUDA compiler.
const BatchKernels* batch_kernels(const torch::Device& device);

}  // namespace winnow
