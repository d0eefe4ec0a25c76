// Many layers in one launch on tensor cores: a thread block takes a tile of 16 images through all
// of them. Activations stay in shared memory as halves [row][16 images]; weights stream through
// shared memory, copied once for all blocks of a cluster. For GPUs of compute capability 9.0.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/challenge/engines/grouped/multilayer_weights.h"

namespace winnow::challenge {

// What one launch computes. All pointers are to device memory. Tiles of `in` and `out` are those of
// GroupLaunch (group_kernel.h), form half: [tile of 64 images][rows][64].
struct MultilayerLaunch {
  const PackedLayerView* layers = nullptr;  // [count] the layers of this launch
  std::uint32_t count = 0;
  std::uint32_t weight_terms = 1;
  bool has_positive_bias = true;
  std::uint32_t most_groups = 0;  // of any layer that this kernel computes in any launch, and of
                                  // the layer before them
  std::uint32_t in_rows = 0;      // rows that the layer before wrote

  std::uint32_t rows = 0;  // of a tile of activations in memory
  const void* in = nullptr;
  void* out = nullptr;                    // no overlap with `in`
  const std::uint32_t* images = nullptr;  // [1] images that are kept; they go to the first places
  const std::uint32_t* number = nullptr;  // [images] by place in `out`: the image's place in `in`
  std::uint32_t* alive = nullptr;         // [words] bit per place in `out`; must be 0 before
};

// The most groups that a layer, or the one before it, may have on the current GPU for weights of so
// many terms; 0 if the GPU cannot run the kernel at all.
std::uint32_t most_multilayer_groups(std::uint32_t weight_terms);

// Enqueues the layers; fit for a CUDA graph. Equal inputs give equal bits.
// Throws Error{device} if the layers have too many groups or the launch is refused.
void launch_multilayer(const MultilayerLaunch& launch, cudaStream_t stream);

}  // namespace winnow::challenge
