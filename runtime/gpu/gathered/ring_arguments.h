// What the gathered convolution with a ring of stages is launched with.
#pragma once

#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>

namespace winnow {

// Device memory as RingWeights; output pixels, input strides and paddings of the convolution.
struct RingArguments {
  const std::byte* records = nullptr;
  const std::int32_t* batches = nullptr;
  const std::int32_t* stage_begin = nullptr;
  const std::int32_t* stage_block = nullptr;
  const std::int32_t* place = nullptr;
  const float* bias = nullptr;  // [groups * 16]
  __half* out = nullptr;        // nchw32c8n

  int groups = 0;        // of 16 output channels
  int parts = 0;         // thread blocks that share a tile
  int capacity = 0;      // records of a group in memory
  int input_blocks = 0;  // of 32 channels
  int output_blocks = 0;
  int height = 0, width = 0;  // of the output
  int tiles_x = 0, tiles_y = 0;
  int tiles = 0;  // of all images
  int stride_x = 1, stride_y = 1, padding_x = 0, padding_y = 0;

  std::uint32_t stage_bytes = 0;
  std::uint32_t row_step = 0;     // bytes in a stage between input pixels of neighbouring outputs
  std::uint32_t column_step = 0;  //
  std::uint32_t pair_step = 0;    // between the two pixels of a pair
  float least = 0;                // of an output: 0 with relu, else -infinity
};

}  // namespace winnow
