// The innermost loop of dense convolution over rows: neighbouring vectors of one row of outputs
// times several output channels, all sums in registers. Needs AVX-512.
#pragma once

#include <cstdint>

namespace winnow {

inline constexpr int kRowLanes = 16;
inline constexpr int kMaxRowVectors = 7;
inline constexpr int kMaxRowChannels = 8;

// What one call works on; all counts are at least 1.
struct RowTile {
  const float* in;              // the first output's first input
  const std::int64_t* offset;   // [taps] in floats from there
  std::int64_t taps;            // input channels times positions in the kernel
  const float* weights;         // of the tile's first channel; those of a tap side by side
  std::int64_t weight_stride;   // floats from tap to tap
  const float* bias;            // [row_channels(vectors)] of the tile's first channel on
  float* out;                   // the first output
  std::int64_t channel_stride;  // floats between the output's channels
  std::int64_t channels;        // written, up to row_channels(vectors)
  std::uint16_t last_lanes;     // of the last vector, those that are written
  bool has_relu;
};

// Channels that a tile of `vectors` vectors has sums of; weights and bias reach as far.
int row_channels(int vectors);

// Computes a tile of 1 .. kMaxRowVectors vectors.
void run_row_tile(int vectors, const RowTile& tile);

}  // namespace winnow
