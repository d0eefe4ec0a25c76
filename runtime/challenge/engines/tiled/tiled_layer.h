// One layer over dense activations in tiles of 32 x 32 (Gokhale et al., "Optimization of Sparse
// Deep Neural Networks using GPU", section II).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/challenge/engines/gpu/device_images.h"

namespace winnow::challenge {

inline constexpr std::uint32_t kTile = 32;
inline constexpr std::uint32_t kMostTiledImages = 65535 * kTile;  // what a grid holds

// A SparseLayer in device memory.
struct LayerView {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  const std::uint32_t* row_begin = nullptr;  // [outputs + 1]
  const std::uint32_t* input = nullptr;      // [connections], ascending within a row
  const float* value = nullptr;              // [connections]
  const float* bias = nullptr;               // [outputs]
};

// Device memory. Rows that are empty are neither read nor written.
struct TiledCall {
  LayerView layer;
  const float* in = nullptr;                 // [images][layer.inputs]
  float* out = nullptr;                      // [images][layer.outputs]
  const std::uint8_t* empty_rows = nullptr;  // [images] 1: the row of `in` is 0 everywhere
  std::uint32_t* nonzero_count = nullptr;    // [images] of the rows of `out`
  std::uint32_t images = 0;                  // at most kMostTiledImages
};

// out = min(32, max(0, Z + bias where Z != 0)), Z = in W. Asynchronous.
void tiled_layer(const TiledCall& call, cudaStream_t stream);

// nonzero_count[i] = ones of image first + i.
void count_ones(const DeviceImages& images, std::uint32_t first, std::uint32_t last,
                std::uint32_t* nonzero_count, cudaStream_t stream);

// empty_rows[i] = nonzero_count[i] == 0, and *live grows by the rows that are not empty.
void find_empty_rows(const std::uint32_t* nonzero_count, std::uint32_t images,
                     std::uint8_t* empty_rows, std::uint32_t* live, cudaStream_t stream);

}  // namespace winnow::challenge
