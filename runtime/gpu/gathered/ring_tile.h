// How the gathered convolution with a ring of stages divides its work. Pure host code.
//
// A thread block takes one tile of output pixels after the other, eight images at a time. The
// input that a tile reads, its box, passes through shared memory in stages of 32 channels. Each
// warp computes 16 output channels, a group.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/gpu/gathered/gathered_sizes.h"
#include "runtime/model/graph.h"

namespace winnow {

struct RingTile {
  int height = 4;  // output pixels
  int width = 7;
  int groups = 8;  // of a thread block
  int stages = 8;  // in shared memory at a time; a power of 2

  friend bool operator==(const RingTile&, const RingTile&) = default;
};

// The input pixels of a tile, padding included.
struct RingBox {
  int height = 0;
  int width = 0;

  int rows() const { return height * width * kStageChannels; }
};

RingBox box_of(const RingTile& tile, const Conv& conv);

// Shared memory of a thread block: stages, and their barriers.
std::int64_t shared_bytes(const RingTile& tile, const RingBox& box);

// Whether boxes can be copied and rows of all stages told apart in 14 bits.
bool is_valid(const RingTile& tile, const RingBox& box, std::int64_t most_shared_bytes);

std::string to_string(const RingTile& tile);  // "ring tile=4x7 groups=8 stages=8"

}  // namespace winnow
