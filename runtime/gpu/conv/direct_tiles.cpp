// Which tiles exist and which are worth timing: integers only.
#include <algorithm>

#include "runtime/base/divided_up.h"
#include "runtime/base/error.h"
#include "runtime/gpu/conv/direct_conv.h"

namespace winnow {
namespace {

constexpr int kMaxThreads = 256;
constexpr int kMaxSums = 64;        // partial sums per thread, or registers run out
constexpr int kMaxSlicedSums = 32;  // their exchange must fit 48 KB of shared memory

bool is_one_of(int value, std::initializer_list<int> allowed) {
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

// The most channels that a thread can keep for this sub-batch.
int thread_channels(int vector, int sub_batch) {
  for (const int channels : {16, 8}) {
    if (vector % channels == 0 && channels * sub_batch <= kMaxSums) return channels;
  }
  return 1;
}

std::int64_t thread_blocks(const DirectWork& work, const DirectTile& tile) {
  const std::int64_t plane = work.out.h * work.out.w;
  const std::int64_t positions = divided_up(work.out.n, tile.sub_batch) * plane;
  return divided_up(positions, tile.positions) * work.rows * (work.vector / tile.channels);
}

// The fewest thread blocks for a row's nonzeros that give every SM one, or as many as there can be.
int shares_to_fill(const DirectWork& work, const DirectTile& tile) {
  int shares = 1;
  while (work.has_clusters && shares < 8 && thread_blocks(work, tile) * shares < work.sms) {
    shares *= 2;
  }
  return shares;
}

}  // namespace

std::string to_string(const DirectTile& tile) {
  return "channels=" + std::to_string(tile.channels) +
         " sub_batch=" + std::to_string(tile.sub_batch) +
         " positions=" + std::to_string(tile.positions) + " slices=" + std::to_string(tile.slices) +
         (tile.shares > 1 ? " shares=" + std::to_string(tile.shares) : "");
}

bool is_valid(const DirectTile& tile, const Layout& layout, int vector) {
  const int sums = tile.channels * tile.sub_batch;
  if (layout == Layout::nhwc) return false;
  if (!is_one_of(tile.channels, {1, 8, 16}) || vector % tile.channels != 0) return false;
  if (!is_one_of(tile.sub_batch, {1, 2, 4, 8}) || sums > kMaxSums) return false;
  if (layout == Layout::chwn8 && tile.sub_batch < 4) return false;
  if (!is_one_of(tile.slices, {1, 2, 4, 8}) || (tile.slices > 1 && sums > kMaxSlicedSums)) {
    return false;
  }
  if (!is_one_of(tile.shares, {1, 2, 4, 8}) || (tile.shares > 1 && sums > kMaxSlicedSums)) {
    return false;
  }
  return tile.positions >= 32 && tile.positions % 32 == 0 &&
         tile.positions * tile.slices <= kMaxThreads;
}

std::vector<DirectTile> direct_tiles(const DirectWork& work, int sub_batch) {
  std::vector<DirectTile> tiles;
  const auto add = [&](const DirectTile& tile) {
    if (!is_valid(tile, work.layout, work.vector)) return;
    if (std::find(tiles.begin(), tiles.end(), tile) == tiles.end()) tiles.push_back(tile);
  };
  for (const int images : {1, 2, 4, 8}) {
    if (sub_batch != 0 && sub_batch != images) continue;
    // Repeating the last image in a thread's registers only wastes work.
    if (sub_batch == 0 && work.layout == Layout::nchw && images / 2 >= work.out.n) continue;
    const int channels = thread_channels(work.vector, images);
    DirectTile tile{.channels = channels, .sub_batch = images};
    add(tile);
    if (thread_blocks(work, tile) >= 4 * std::int64_t{work.sms}) {
      tile.positions = 256;
      add(tile);
      continue;
    }
    tile.positions = 64;
    add(tile);
    for (const int slices : {4, 8}) {
      const int fewer = channels * images <= kMaxSlicedSums ? channels : channels == 16 ? 8 : 1;
      DirectTile split{.channels = fewer, .sub_batch = images, .positions = 32, .slices = slices};
      add(split);
      split.shares = shares_to_fill(work, split);
      add(split);
    }
  }
  return tiles;
}

}  // namespace winnow
