#include "runtime/gpu/gathered/ring_clocks.h"

#include <algorithm>
#include "runtime/base/divided_up.h"

namespace winnow {
namespace {

constexpr int kQuarters = 4;         // of an SM; each multiplies by itself
constexpr double kPairClocks = 16;   // two products of a pair of pixels on a quarter
constexpr double kBatchClocks = 30;  // of a warp for each batch besides
constexpr double kCopyRate = 22;     // bytes that arrive in shared memory a clock
constexpr double kWeightRate = 20;   // bytes of weights a clock
constexpr double kStoreRate = 16;    // bytes of results a clock
constexpr double kTileClocks = 600;  // of a tile besides
constexpr double kOverlap = 0.2;     // share of the lesser times that does not overlap

// How much of a quarter's products this many warps reach.
double efficiency(int warps_of_quarter) {
  return warps_of_quarter == 1 ? 0.55 : 0.85;
}

}  // namespace

double tile_clocks(const RingProblem& problem, const RingTileWork& work) {
  const RingTile& tile = problem.tile;
  const int warps = divided_up(work.groups * tile.slices, kQuarters);
  const int pixels = tile.height * tile.width;
  const double compute =
      work.batches * warps * (pixels / 2 * kPairClocks / efficiency(warps) + kBatchClocks);
  const int addends = problem.adds ? divided_up(work.groups * kGroupChannels, kStageChannels) : 0;
  const double rows = static_cast<double>(work.input_blocks) * box_of(tile, problem.conv).rows() +
                      addends * output_box(tile).rows();
  const double copies = rows * kRowBytes / kCopyRate;
  const double weights = work.groups * work.batches * kFragmentBytes / kWeightRate;
  const double stores = pixels * tile.slices * work.groups * kGroupChannels * kRowBytes /
                        kStoreRate / (problem.pool == RingPool::none ? 1 : 4);
  const double most = std::max({compute, copies, weights, stores});
  return most + kOverlap * (compute + copies + weights + stores - most) + kTileClocks;
}

}  // namespace winnow
