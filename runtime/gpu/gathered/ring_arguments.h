// What the gathered convolution with a ring of stages is launched with.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/device/divisor.h"

namespace winnow {

enum class RingPool : int {
  none,
  max,  // over 2 x 2 outputs that do not overlap
  average,
};

// Thread blocks are divided into so many parts at most, each with its own output channels.
inline constexpr int kMostParts = 64;

// An activation in nchw32c8n as tiles walk over it. Distances are in elements.
struct RingMap {
  int height = 0, width = 0;  // pixels
  int images = 0;             // blocks of eight
  int blocks = 0;             // of 32 channels
  std::int64_t image = 0, block = 0;
  int row = 0, column = 0;
};

// An activation whose boxes threads copy, of so many pixels.
struct RingTensor {
  const void* data = nullptr;  // half floats in nchw32c8n
  RingMap map;
  int box_height = 0, box_width = 0;
};

// Device memory as RingWeights; strides and paddings of the convolution.
struct RingArguments {
  const std::byte* records = nullptr;
  const std::int32_t* batches = nullptr;
  const std::int32_t* stage_begin = nullptr;
  const std::int32_t* stage_block = nullptr;
  const std::int32_t* addend_begin = nullptr;
  const std::int32_t* place = nullptr;
  const float* bias = nullptr;  // [groups * 16]
  void* out = nullptr;          // half floats in nchw32c8n

  int groups = 0;                       // of 16 output channels
  int parts = 0;                        // thread blocks that share a tile
  int part_groups = 0;                  // groups of each
  int part_begin[kMostParts + 1] = {};  // first thread block of each part, and of none
  int slices = 0;                       // warps of a group
  int capacity = 0;                     // records of a group in memory
  int input_blocks = 0;
  RingMap map;  // of the output, pooled if it is
  RingPool pool = RingPool::none;
  int tile_height = 0;  // before pooling
  Divisor tiles_x, tiles_y;
  int tiles = 0;                                                 // of all images
  int stride_x = 1, stride_y = 1, padding_x = 0, padding_y = 0;  // in pixels of input_map()

  std::uint32_t stage_bytes = 0, ring_bytes = 0;
  std::uint32_t addend_bytes = 0;                // of a stage of what is added; 0: nothing is
  std::uint32_t stage_mask = 0, stage_bits = 0;  // stages of the ring: 1 << bits
  std::uint32_t row_step = 0;     // bytes in a stage between input pixels of neighbouring outputs
  std::uint32_t column_step = 0;  //
  std::uint32_t pair_step = 0;    // between the two pixels of a pair
  std::uint32_t slice_step = 0;   // between slices
  float least = 0;                // of an output: 0 with relu, else -infinity
};

}  // namespace winnow
