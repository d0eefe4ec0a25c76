#include "runtime/gpu/gathered/ring_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/base/divided_up.h"
#include "runtime/gpu/gathered/ring_clocks.h"

namespace winnow {
namespace {

constexpr double kLaunchClocks = 3000;

RingProblem problem_of(const RingWork& work, const RingTile& tile) {
  return {.conv = work.conv, .tile = tile, .pool = work.pool, .adds = work.adds};
}

// Batches of a group. Those that must go before their stages leave the ring are not full: the fewer
// columns half a ring holds, the emptier they are (fitted to what column_batches() makes).
double batches_of(const RingWork& work, const RingTile& tile) {
  const double stages = divided_up(work.in.c, kStageChannels);
  const double carried = std::max(1.0, work.columns / stages * std::min(stages, tile.stages / 2.0));
  const double padding = 1 + std::min(230 / (carried * carried), 30 / carried);
  return std::max(1.0, std::ceil(work.columns / kBatchColumns * padding));
}

double tile_clocks(const RingWork& work, const RingTile& tile) {
  return tile_clocks(problem_of(work, tile),
                     {.groups = static_cast<int>(std::min<std::int64_t>(tile.groups, work.groups)),
                      .batches = batches_of(work, tile),
                      .input_blocks = static_cast<int>(divided_up(work.in.c, kStageChannels))});
}

// Whether steps within a map fit 32 bits, also where all of its pixels or all images are one row.
bool has_short_steps(const RingWork& work) {
  const Extents out = conv_output(work.conv, work.in);
  const std::int64_t octets = divided_up(work.in.n, kGatheredImages);
  const std::int64_t blocks = divided_up(std::max(work.in.c, out.c), kStageChannels);
  const std::int64_t pixels = std::max(work.in.h * work.in.w, out.h * out.w);
  return std::max(octets * blocks, pixels) <=
         std::numeric_limits<std::int32_t>::max() / (kStageChannels * kGatheredImages);
}

// Whether 32 bits reach all records, where half of their columns are padding.
bool has_short_records(const RingWork& work) {
  const double batches = 2 * work.columns / kBatchColumns + 1;
  return static_cast<double>(work.groups) * batches * static_cast<double>(kRecordBytes) <
         std::numeric_limits<std::int32_t>::max();
}

bool may_run(const RingWork& work, const RingTile& tile) {
  if (!has_short_steps(work) || !has_short_records(work)) return false;
  if (work.pool != RingPool::none && !can_pool(tile)) return false;
  if (divided_up(work.groups, tile.groups) > kMostParts) return false;
  return is_valid(tile, box_of(tile, work.conv), work.most_shared_bytes);
}

void append_with_stages(const RingWork& work, RingTile tile, std::vector<RingTile>& tiles) {
  // Stages of one-pixel kernels hold few columns: more of them make fuller batches.
  const bool is_single = work.conv.kernel[0] * work.conv.kernel[1] == 1;
  for (const int stages : {kMostStages, 8, 4, 2}) {
    if (stages == kMostStages && !is_single) continue;
    tile.stages = stages;
    if (!may_run(work, tile)) continue;
    if (std::ranges::find(tiles, tile) == tiles.end()) tiles.push_back(tile);
    return;
  }
}

// Whether there is a kernel of the same pixels with fewer warps, each of more registers.
bool has_fewer_warps(const RingTile& tile) {
  return std::ranges::any_of(kRingForms, [&](const RingForm& form) {
    return form.height == tile.height && form.width == tile.width && form.warps < tile.warps;
  });
}

// Groups of a thread block: as many as there are warps for, evenly, and a half and a quarter.
void append_with_groups(const RingWork& work, RingTile tile, std::vector<RingTile>& tiles) {
  const int parts = divided_up(work.groups, tile.warps / tile.slices);
  for (const int spread : {1, 2, 4}) {
    tile.groups = static_cast<int>(divided_up(work.groups, std::int64_t{parts} * spread));
    if (tile.warps > kSlicedWarps && tile.groups <= kSlicedWarps && has_fewer_warps(tile)) continue;
    append_with_stages(work, tile, tiles);
  }
}

bool has_same_form(const RingTile& a, const RingTile& b) {
  return a.height == b.height && a.width == b.width && a.warps == b.warps;
}

}  // namespace

double ring_clocks(const RingWork& work, const RingTile& tile) {
  const RingGrid grid = ring_grid(problem_of(work, tile), work.in);
  const int parts = divided_up(work.groups, tile.groups);
  const int together = std::max(1, std::min(work.sms / parts, grid.tiles()));
  const int waves = static_cast<int>(divided_up(std::int64_t{together} * parts, work.sms));
  const int tiles = divided_up(grid.tiles(), together);
  return kLaunchClocks + waves * tiles * tile_clocks(work, tile);
}

std::vector<RingTile> all_ring_tiles(const RingWork& work) {
  std::vector<RingTile> tiles;
  if (work.groups == 0) return tiles;
  for (const RingForm& form : kRingForms) {
    if (form.pitch != 0) continue;
    RingTile tile{.height = form.height, .width = form.width, .warps = form.warps};
    for (const int slices : {1, 2, 4}) {
      if (slices > 1 && (form.warps != kSlicedWarps || form.height == 1)) continue;
      tile.slices = slices;
      append_with_groups(work, tile, tiles);
    }
  }
  return tiles;
}

std::vector<RingTile> best_ring_tiles(const RingWork& work, std::size_t most) {
  std::vector<std::pair<double, RingTile>> ranked;
  for (const RingTile& tile : all_ring_tiles(work)) {
    ranked.emplace_back(ring_clocks(work, tile), tile);
  }
  std::ranges::stable_sort(ranked, {}, [](const auto& entry) { return entry.first; });
  std::vector<RingTile> best;
  for (const auto& [clocks, tile] : ranked) {
    const auto likes = std::ranges::count_if(
        best, [&, &tile = tile](const RingTile& other) { return has_same_form(tile, other); });
    const bool is_like_best = !best.empty() && has_same_form(tile, best.front());
    if (best.size() < most && likes < (is_like_best ? 2 : 1)) best.push_back(tile);
  }
  return best;
}

}  // namespace winnow
