// One layer in one launch, for activations that do not fit shared memory: rows of 32 images are
// gathered from global memory, tile after tile, so that the tile that all blocks work on stays in
// the L2 cache. Layout: [tile of 32 images][row][32], fp32 or fp16.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/challenge/engines/gpu/image_places.h"
#include "runtime/sparse/gather_weights.h"

namespace winnow::challenge {

inline constexpr std::uint32_t kGatherImages = 32;  // of a tile

// Pointers to device memory.
struct GatherLaunch {
  GatherView weights;
  bool is_half = false;                  // activations read and written
  const std::uint32_t* bits = nullptr;   // first layer: [tile][inputs], bit image; else null
  const void* in = nullptr;              // [tile][rows][32]
  void* out = nullptr;                   // the same layout
  std::uint32_t rows = 0;                // of a tile: the widest layer
  const std::uint32_t* count = nullptr;  // [1] images
  std::uint32_t* alive =
      nullptr;  // [tile] bit per image that is not 0 everywhere, 0 before; or null
};

// Asynchronous; sums run over connections in their order, so equal inputs give equal outputs.
void launch_gather(const GatherLaunch& launch, int sms, cudaStream_t stream);

// Drops dead images: the activations of live ones move to the places that `places` gives them, of
// which it has to have the numbers. Pointers are to device memory.
struct GatherCompaction {
  const void* in = nullptr;
  void* out = nullptr;  // no overlap with `in`; null: only the ids are wanted
  bool in_half = false;
  bool out_half = false;
  std::uint32_t rows = 0;       // of a tile in memory
  std::uint32_t used_rows = 0;  // outputs of the layer before
  ImagePlaces places;           // tiles of one word
};

// Asynchronous, two kernels.
void launch_compaction(const GatherCompaction& compaction, int sms, cudaStream_t stream);

}  // namespace winnow::challenge
