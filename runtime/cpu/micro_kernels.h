// The innermost loops of sparse convolution and linear layers, compiled once for each instruction
// set. Plain structs of pointers; the callers have checked everything.
//
// A tile is a set of output points held in registers: `rows` x `cols`, where the points of a row
// lie side by side in memory and the rows anywhere. The order of a sum depends on its tile's shape
// and its list only, so any number of threads gives equal bits.
#pragma once

#include <cstdint>

#include "runtime/base/isa.h"

namespace winnow {

// Lanes are positions (images, or neighbours in a plane): an input vector times one weight.
struct PositionArgs {
  const float* const* in;      // [rows] where a row's first point reads at offset 0
  float* const* out;           // [rows] where it is written for the first channel
  const std::int64_t* begin;   // [block_rows + 1] into offset
  const std::int32_t* offset;  // of every entry, in floats
  const float* value;          // [entries][channels of a block]
  std::int64_t block_rows;
  std::int64_t channels;        // valid ones in all rows of blocks; the last may be cut
  std::int64_t channel_stride;  // floats between an output point's channels
  const float* bias;            // [block_rows * channels of a block]; null adds to what `out` holds
  bool has_relu;
};
using PositionKernel = void (*)(const PositionArgs&);

// Lanes are output channels, which lie side by side: a vector of weights times one input.
struct ChannelArgs {
  const float* const* in;
  float* const* out;
  const std::int64_t* begin;
  const std::int32_t* offset;
  const float* value;  // [entries][vector]
  std::int64_t block_rows;
  std::int64_t vector;  // channels of a block, a multiple of the lanes
  std::int64_t channels;
  std::int64_t out_step;  // floats between the points of a row
  const float* bias;      // [block_rows * vector]
  bool has_relu;
};
using ChannelKernel = void (*)(const ChannelArgs&);

// Lanes are output channels with columns of their own: gathered inputs. Linear layers, few images.
struct GatherArgs {
  const float* const* in;      // [images]
  float* const* out;           // [images]
  const std::int64_t* begin;   // [row_groups + 1] of `lanes` rows each
  const std::int32_t* offset;  // [entries][lanes]
  const float* value;          // [entries][lanes]
  std::int64_t row_groups;
  std::int64_t channels;
  const float* bias;  // [row_groups * lanes]
  bool has_relu;
};
using GatherKernel = void (*)(const GatherArgs&);

inline constexpr int kChannelStep = 16;  // floats between the columns that a ChannelKernel reads
inline constexpr int kMaxRows = 8;
inline constexpr int kMaxCols = 16;
inline constexpr int kGatherImages = 4;

// Multiply-adds of the lanes on registers alone, as fast as they go: `rounds` rounds of
// MicroKernels::chains each. Reads factor and term from `values` and writes what comes of them
// there.
using ChainKernel = void (*)(std::int64_t rounds, float (&values)[2]);

// Kernels by [rows][cols]; null where a tile does not fit the registers. No default initialisers: a
// constructor would be compiled for one instruction set and linked for all.
struct MicroKernels {
  Isa isa;
  int lanes;
  int block_channels;                                       // of `blocked`
  PositionKernel single[kMaxRows + 1][kMaxCols + 1];        // blocks of one channel
  PositionKernel blocked[kMaxRows + 1][kMaxCols + 1];       // blocks of block_channels
  ChannelKernel channels[kMaxRows + 1][kMaxCols + 1];       // one vector of lanes at a time
  ChannelKernel channel_pairs[kMaxRows + 1][kMaxCols + 1];  // two; vector % (2 lanes) == 0
  GatherKernel gather[kGatherImages + 1];                   // by images: 1, 2, 4
  int chains;                                               // of vectors
  ChainKernel chain;
};

// The table of an instruction set; null if this build does not have it.
const MicroKernels* baseline_kernels();
const MicroKernels* avx2_kernels();
const MicroKernels* avx512_kernels();

}  // namespace winnow
