// How the stem convolution, that of a network's few input channels, divides its work. Pure host
// code.
//
// A thread block computes a tile of output pixels of eight images, all output channels. It puts the
// input pixels that the tile reads, its box, into shared memory as rows of 16 bytes: a channel's
// pixel of eight images in half precision. A tap is an input channel and a position in the kernel;
// its row for an output pixel lies at the pixel's row plus the tap's offset, whichever pixel it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/gpu/gathered/gathered_sizes.h"
#include "runtime/model/graph.h"
#include "runtime/plan/layout.h"

namespace winnow {

inline constexpr std::int64_t kMostStemTaps = 256;
inline constexpr int kFewestStemBatches = 2;  // of 16 taps; with no more, weights stay in registers
inline constexpr int kStemChunk = 32;         // output channels that a warp computes at a time
inline constexpr int kStemWarps = 8;

// Output pixels of a thread block; the width is 8, 16 or 32.
struct StemTile {
  int height = 8;
  int width = 32;

  friend bool operator==(const StemTile&, const StemTile&) = default;
};

std::string to_string(const StemTile& tile);  // "stem tile=8x32"

// The input pixels of a tile, padding included, and how far apart their rows lie.
struct StemBox {
  int height = 0;
  int width = 0;
  int row_pitch = 0;    // in rows of 16 bytes, from a pixel to the one below
  int plane_pitch = 0;  // to the next channel
};

// Input channels of all groups, times the positions of the kernel.
std::int64_t stem_taps(const Conv& conv);

// Sixteen taps are a batch, the last one filled up; at least kFewestStemBatches.
int stem_batches(const Conv& conv);

// Rows of eight taps that ldmatrix reads together should lie in different banks: pitches are
// somewhat larger than the box where that helps.
StemBox stem_box(const Conv& conv, const StemTile& tile);

std::int64_t stem_shared_bytes(const Conv& conv, const StemBox& box);

// By tap, in the order of the weight's columns: bytes to its row from that of an output pixel. Taps
// that fill up a batch, whose weights are 0, read the last tap's row.
std::vector<std::uint32_t> stem_offsets(const Conv& conv, const StemBox& box);

// Rows that `offsets` read in the same bank beyond the first, of every eight taps: 0 where no
// ldmatrix waits.
int stem_conflicts(const std::vector<std::uint32_t>& offsets);

// What tiles are chosen for.
struct StemWork {
  Conv conv;
  Extents in, out;
  int sms = 1;
  std::int64_t most_shared_bytes = 0;  // of a thread block
};

// At most `most` tiles, those first that should be faster. Empty if no tile's box fits shared
// memory.
std::vector<StemTile> best_stem_tiles(const StemWork& work, std::size_t most);

}  // namespace winnow
