// Cutting a layer's output points into register tiles, and the tiles into shares of the threads.
// Pure functions of integers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace winnow {

// Which tiles a kernel has: rows x cols with one of `rows` and at most `max_points` points.
struct TileLimits {
  std::span<const int> rows;  // increasing, from 1
  int max_points = 1;
  int max_cols = 1;
};

// rows_of_points x width points: tiles of `cols` neighbours are cut from every row, and groups of
// rows share a tile.
struct Tile {
  std::int64_t row = 0;  // first row of points
  int rows = 1;
  std::int64_t col = 0;
  int cols = 1;

  friend bool operator==(const Tile&, const Tile&) = default;
};

// Covers every point once, with the fewest wasted instructions by a model of one instruction for a
// point and kTileOverhead for a tile. Row groups lie outermost.
std::vector<Tile> cut_tiles(std::int64_t rows_of_points, std::int64_t width,
                            const TileLimits& limits);

// Cuts a row of given costs into `count` contiguous shares of nearly equal cost.
//
//   returns  [count + 1] ascending, first 0, last costs.size()
std::vector<std::int64_t> balanced_shares(std::span<const std::int64_t> costs, int count);

}  // namespace winnow
