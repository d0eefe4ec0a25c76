// The innermost loops of the engine `cpu`, compiled once for each instruction set. They take
// structs of pointers; the callers have checked everything.
//
// A slab holds the values of kSlabLanes images beside each other: a neuron is a row of them, and an
// instruction computes one connection for many images. A tile is a set of outputs that read the
// same inputs, so that each row of inputs is loaded once for all of them.
//
// The order of an output's sum depends on its tile only: neither on the width of registers nor on
// how images are put into slabs and work is shared among threads. Whether products are rounded
// before they are added does depend on the instruction set.
#pragma once

#include <cstdint>

#include "runtime/base/isa.h"

namespace winnow::challenge {

inline constexpr int kSlabLanes = 32;         // images of a slab: two cache lines of floats
inline constexpr int kLaneMultiple = 16;      // lanes are computed in multiples of so many
inline constexpr int kLargestHeight = 8;      // outputs of a tile: 1, 2, 4 or 8
inline constexpr int kPrefetchDistance = 32;  // rows of inputs that are asked for ahead of use

struct OutputTile {
  std::uint32_t input_begin;  // of its inputs in TileArgs::input
  std::uint32_t value_begin;  // of its weights in TileArgs::value
  std::uint32_t inputs;
  std::uint32_t output;  // the first one; the others follow it
  std::uint32_t height;
};

struct TileArgs {
  const float* in;  // [inputs of the layer][kSlabLanes], aligned to a cache line, as each row is
  float* out;       // [outputs of the layer][kSlabLanes]
  const OutputTile* tile;
  std::int64_t tiles;
  const std::uint32_t* input;  // times kSlabLanes; kPrefetchDistance more than belong to tiles
  const float* value;          // of a tile: [inputs][height]
  const float* bias;           // by output
  float limit;                 // the largest activation
  std::int64_t lanes;          // to compute, a multiple of kLaneMultiple
  std::uint32_t* alive;        // [kSlabLanes], becomes other than 0 where an output is
};
using TileKernel = void (*)(const TileArgs&);

// out = min(limit, max(0, z + bias where z is not 0)), z = the weighted sum of the inputs, for all
// tiles. Null if this build does not have the set.
TileKernel baseline_tile_kernel();
TileKernel avx2_tile_kernel();
TileKernel avx512_tile_kernel();

}  // namespace winnow::challenge
