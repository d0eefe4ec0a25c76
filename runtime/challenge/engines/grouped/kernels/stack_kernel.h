// Many layers in one launch on tensor cores: a block takes 16 images through all of them, their
// activations in shared memory, [row][16] halfs; weights come through shared memory once for all
// blocks of a cluster. For GPUs of compute capability 9.0.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/challenge/engines/grouped/stack_weights.h"

namespace winnow::challenge {

// Pointers to device memory.
struct StackLaunch {
  const StackView* layers = nullptr;  // [count] those of this launch
  std::uint32_t count = 0;
  std::uint32_t parts = 1;  // of weights
  bool has_positive_bias = true;
  std::uint32_t most_groups = 0;  // of any layer of all stacks and the one before them
  std::uint32_t in_rows = 0;      // that the layer before wrote

  // As GroupLaunch's (group_kernel.h), form half.
  std::uint32_t rows = 0;
  const void* in = nullptr;
  void* out = nullptr;                    // not `in`
  const std::uint32_t* images = nullptr;  // [1] images that are kept
  const std::uint32_t* number = nullptr;  // their numbers in `in`, by place in `out`
  std::uint32_t* alive = nullptr;         // [words] bit per place; 0 before
};

// The most groups that a layer, or the one before it, may have on the current GPU for weights of so
// many parts; 0 if the GPU cannot do that at all.
std::uint32_t most_stack_groups(std::uint32_t parts);

// Asynchronous; fit for a CUDA graph. Equal inputs give equal bits.
void launch_stack(const StackLaunch& launch, cudaStream_t stream);

}  // namespace winnow::challenge
