#include "runtime/cpu/tiles.h"

#include <algorithm>
#include <limits>

namespace winnow {
namespace {

// Loading offset and weight and closing the loop, next to one multiply-add per point.
constexpr std::int64_t kTileOverhead = 3;

int largest_rows(const TileLimits& limits, std::int64_t left, int cols) {
  int best = 1;
  for (const int rows : limits.rows) {
    if (rows <= left && rows * cols <= limits.max_points) best = rows;
  }
  return best;
}

// Calls visit(first, length) for ceil(width / cols) pieces whose lengths differ by at most one.
template <typename Visit>
void for_pieces(std::int64_t width, int cols, Visit visit) {
  const std::int64_t pieces = (width + cols - 1) / cols;
  for (std::int64_t i = 0, first = 0; i < pieces; ++i) {
    const std::int64_t length = width / pieces + (i < width % pieces ? 1 : 0);
    visit(first, static_cast<int>(length));
    first += length;
  }
}

std::vector<Tile> tiles_for(std::int64_t rows_of_points, std::int64_t width, int cols,
                            const TileLimits& limits) {
  std::vector<Tile> tiles;
  for (std::int64_t row = 0; row < rows_of_points;) {
    const int rows = largest_rows(limits, rows_of_points - row, cols);
    for_pieces(width, cols, [&](std::int64_t first, int length) {
      tiles.push_back({row, rows, first, length});
    });
    row += rows;
  }
  return tiles;
}

// Instructions for one group of rows after the other.
std::int64_t cost_of(std::int64_t rows_of_points, std::int64_t width, int cols,
                     const TileLimits& limits) {
  const std::int64_t pieces = (width + cols - 1) / cols;
  const int rows = largest_rows(limits, rows_of_points, cols);
  std::int64_t groups = rows_of_points / rows;
  for (std::int64_t left = rows_of_points % rows; left > 0; ++groups) {
    left -= largest_rows(limits, left, cols);
  }
  return rows_of_points * width + groups * pieces * kTileOverhead;
}

}  // namespace

std::vector<Tile> cut_tiles(std::int64_t rows_of_points, std::int64_t width,
                            const TileLimits& limits) {
  int best = 1;
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
  const std::int64_t widest = std::min<std::int64_t>({width, limits.max_cols, limits.max_points});
  for (int cols = 1; cols <= widest; ++cols) {
    const std::int64_t cost = cost_of(rows_of_points, width, cols, limits);
    if (cost < lowest) {
      lowest = cost;
      best = cols;
    }
  }
  return tiles_for(rows_of_points, width, best, limits);
}

std::vector<std::int64_t> balanced_shares(std::span<const std::int64_t> costs, int count) {
  std::int64_t total = 0;
  for (const std::int64_t cost : costs) total += cost;
  std::vector<std::int64_t> shares = {0};
  std::int64_t next = 0, done = 0;
  for (int share = 1; share <= count; ++share) {
    // A cost goes to the side of the boundary on which its middle lies.
    const double boundary = static_cast<double>(total) * share / count;
    while (next < static_cast<std::int64_t>(costs.size()) &&
           (share == count ||
            static_cast<double>(done) + static_cast<double>(costs[next]) / 2 < boundary)) {
      done += costs[next++];
    }
    shares.push_back(next);
  }
  return shares;
}

}  // namespace winnow
