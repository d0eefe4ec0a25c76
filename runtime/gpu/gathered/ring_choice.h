// Which tiles of the gathered convolution with a ring of stages a layer should try. Pure host code.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/gpu/gathered/ring_launch.h"

namespace winnow {

// What a layer's time depends on.
struct RingWork {
  Conv conv;
  RingPool pool = RingPool::none;
  bool adds = false;  // another value
  Extents in;
  std::int64_t groups = 0;  // of 16 output channels
  double columns = 0;       // that a group keeps, on average
  int sms = 1;
  std::int64_t most_shared_bytes = 0;  // of a thread block
};

// Clocks that the kernel should take with this tile, from the rates at which an SM multiplies,
// copies, and reads weights; meant for comparing tiles of one layer.
double ring_clocks(const RingWork& work, const RingTile& tile);

// All tiles that can run the layer: every form, its warps shared by groups and slices, groups
// spread over more thread blocks where tiles are few, and as many stages as fit.
std::vector<RingTile> all_ring_tiles(const RingWork& work);

// Up to `most` of them by ring_clocks(), the best first; no two that differ in the number of groups
// or slices alone, except the best.
std::vector<RingTile> best_ring_tiles(const RingWork& work, std::size_t most);

}  // namespace winnow
