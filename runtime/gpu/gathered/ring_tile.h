// How the gathered convolution with a ring of stages divides its work. Pure host code.
//
// A thread block takes one tile of output pixels after the other, eight images at a time. The
// input that a tile reads, its box, passes through shared memory in stages of 32 channels. Each
// warp computes 16 output channels, a group, at the pixels of one slice of the tile.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/gpu/gathered/gathered_sizes.h"
#include "runtime/model/graph.h"
#include "runtime/plan/layout.h"

namespace winnow {

// What a kernel is compiled for.
struct RingForm {
  int height;  // output pixels of a warp: an even height, or 1 and an even width
  int width;
  int warps;  // that compute
  int depth;  // batches whose weights are in registers
  int ahead;  // pairs of pixels that are loaded before their products
  int pitch;  // input pixels of a row of the box, where pixels of neighbouring outputs are
              // neighbours in it; 0: any box
};

// Those of a fixed pitch before the general one of the same height, width and warps.
inline constexpr RingForm kRingForms[] = {
    {4, 7, 8, 4, 6, 9},  {4, 7, 8, 4, 6, 0},   {4, 7, 11, 3, 4, 9}, {4, 7, 11, 3, 4, 7},
    {4, 7, 11, 3, 4, 0}, {4, 8, 8, 4, 6, 10},  {4, 8, 8, 4, 6, 0},  {6, 7, 8, 3, 4, 9},
    {6, 7, 8, 3, 4, 0},  {2, 14, 8, 4, 6, 16}, {2, 14, 8, 4, 6, 0}, {1, 28, 8, 4, 6, 0},
    {4, 4, 11, 4, 4, 0}, {2, 4, 11, 4, 2, 0},  {1, 8, 11, 4, 2, 0}};

// A batch can wait for so many stages, and let go of them (ring_weights.h).
inline constexpr int kMostStages = 16;

// Kernels of so many warps know slices; more warps have too few registers.
inline constexpr int kSlicedWarps = 8;

struct RingTile {
  int height = 4;  // output pixels of a slice
  int width = 7;
  int warps = 8;   // of the kernel
  int groups = 8;  // of a thread block; groups * slices <= warps
  int slices = 1;  // below each other: the tile has height * slices rows
  int stages = 8;  // in shared memory at a time; a power of 2, at most kMostStages

  int rows() const { return height * slices; }
  friend bool operator==(const RingTile&, const RingTile&) = default;
};

// The input pixels of a tile, padding included. Where a kernel has one row or column, pixels that
// its stride skips are not copied: the box has every step-th pixel, neighbours in input_map().
struct RingBox {
  int height = 0;
  int width = 0;
  int step_y = 1;
  int step_x = 1;

  int rows() const { return height * width * kStageChannels; }
};

RingBox box_of(const RingTile& tile, const Conv& conv);

// Whether neighbouring outputs read neighbouring pixels of the box.
bool has_unit_steps(const RingBox& box, const Conv& conv);

// Shared memory of a thread block: stages, and their barriers.
std::int64_t shared_bytes(const RingTile& tile, const RingBox& box);

// Whether a form has this tile, boxes can be copied and rows of all stages told apart in 14 bits.
bool is_valid(const RingTile& tile, const RingBox& box, std::int64_t most_shared_bytes);

std::string to_string(const RingTile& tile);  // "ring tile=4x7 warps=8 groups=8 slices=1 stages=8"

}  // namespace winnow
