// What a tile of the gathered convolution with a ring of stages should cost, from the rates at
// which an SM multiplies, copies, and reads weights; meant for comparing. Pure host code.
#pragma once

#include "runtime/gpu/gathered/ring_launch.h"

namespace winnow {

// Clocks of a thread block for one tile: it has so many groups of output channels, each of so many
// batches of columns, and reads so many blocks of 32 input channels.
struct RingTileWork {
  int groups = 1;
  double batches = 1;
  int input_blocks = 1;
};
double tile_clocks(const RingProblem& problem, const RingTileWork& work);

}  // namespace winnow
