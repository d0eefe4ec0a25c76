// Which buffer of shared memory is what while a thread block takes one tile after the other through
// a launch. Threads that compute and those that move tiles go through the same sequence.
//
// With three buffers the next tile comes in and the last one goes out while one is computed; with
// two, a tile has to be gone before the next one comes in its place.
#pragma once

#include <cstdint>

#include "runtime/device/host_device.h"

namespace winnow::challenge {

// Buffers are numbered from 0.
class TileBuffers {
 public:
  WINNOW_HOST_DEVICE explicit TileBuffers(bool has_three)
      : has_three_(has_three), next_(has_three ? 2 : 0) {}

  // Tiles whose inputs may be there at the same time: the one that is computed and those ahead.
  WINNOW_HOST_DEVICE std::uint32_t tiles_at_once() const { return has_three_ ? 2 : 1; }

  WINNOW_HOST_DEVICE std::uint32_t in() const { return in_; }        // the tile's inputs
  WINNOW_HOST_DEVICE std::uint32_t other() const { return other_; }  // where its first layer writes
  WINNOW_HOST_DEVICE std::uint32_t next() const { return next_; }    // the inputs that come next

  // Where the tile lies after so many layers, each of which writes the buffer that it does not
  // read.
  WINNOW_HOST_DEVICE std::uint32_t result(std::uint32_t layers) const {
    return layers % 2 == 0 ? in_ : other_;
  }

  // To the next tile, after a tile of so many layers, whose result lies where next() says then.
  WINNOW_HOST_DEVICE void advance(std::uint32_t layers) {
    const std::uint32_t stored = result(layers);
    other_ = in_ + other_ - stored;
    in_ = has_three_ ? next_ : stored;
    next_ = stored;
  }

 private:
  bool has_three_;
  std::uint32_t in_ = 0, other_ = 1, next_;
};

}  // namespace winnow::challenge
