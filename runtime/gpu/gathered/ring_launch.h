// A convolution in the terms of the gathered kernel with a ring of stages. Pure host code.
#pragma once

#include "runtime/gpu/gathered/ring_arguments.h"
#include "runtime/gpu/gathered/ring_tile.h"
#include "runtime/gpu/gathered/ring_weights.h"
#include "runtime/plan/layout.h"

namespace winnow {

struct RingProblem {
  Conv conv;
  RingTile tile;
  bool has_relu = false;
  RingPool pool = RingPool::none;
  bool adds = false;  // another value, before relu
};

// Sizes of the convolution's output, and of what is written.
Extents conv_output(const Conv& conv, const Extents& in);
Extents ring_output(const RingProblem& problem, const Extents& in);

// Whether a slice has whole windows of 2 x 2 outputs.
bool can_pool(const RingTile& tile);

// How tiles walk over the input: pixels that no tile reads (RingBox) are left out. A convolution of
// single pixels may see all pixels as one row where its tile is a row, and the images as pixels
// where a map is one pixel.
RingMap input_map(const RingProblem& problem, const Extents& in);

// The same over the output.
RingMap output_map(const RingProblem& problem, const Extents& in);

// A tile of the output, as bulk copies of an addend see it.
RingBox output_box(const RingTile& tile);

// Tiles of the whole output.
struct RingGrid {
  int tiles_x = 0, tiles_y = 0, images = 0;

  int tiles() const { return tiles_x * tiles_y * images; }
};
RingGrid ring_grid(const RingProblem& problem, const Extents& in);

// All but the pointers, for a GPU of so many SMs. Parts get thread blocks by the work of a tile, so
// that all of them end at about the same time.
RingArguments ring_arguments(const RingProblem& problem, const RingWeights& weights,
                             const Extents& in, int sms);

// Thread blocks of the launch.
inline int thread_blocks(const RingArguments& a) {
  return a.part_begin[a.parts];
}

}  // namespace winnow
