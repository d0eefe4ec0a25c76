#include "runtime/gpu/stem/stem_tile.h"

#include <algorithm>
#include <utility>

#include "runtime/base/divided_up.h"

namespace winnow {
namespace {

constexpr StemTile kTiles[] = {{16, 32}, {8, 32}, {8, 16}, {4, 32}, {4, 16}, {2, 32},
                               {2, 16},  {2, 8},  {1, 32}, {1, 16}, {1, 8}};

constexpr int kMostBlocks = 3;         // of an SM, by their registers
constexpr double kBytesPerClock = 18;  // of memory, an SM's share (H200)
constexpr double kLatency = 3000;      // clocks from a block's first load to its first store

// Clocks of the whole launch, by the bytes that it moves and the blocks that wait for each other.
double predicted_clocks(const StemWork& work, const StemTile& tile) {
  const StemBox box = stem_box(work.conv, tile);
  const std::int64_t blocks = divided_up(work.out.n, kGatheredImages) *
                              divided_up(work.out.h, tile.height) *
                              divided_up(work.out.w, tile.width);
  const std::int64_t fitting = work.most_shared_bytes / stem_shared_bytes(work.conv, box);
  const std::int64_t together = work.sms * std::clamp<std::int64_t>(fitting, 1, kMostBlocks);
  const std::int64_t read = work.conv.in_channels * box.height * box.width * kGatheredImages * 4;
  const std::int64_t written = divided_up(work.out.c, kStemChunk) * kStemChunk * tile.height *
                               tile.width * kGatheredImages * 2;
  return static_cast<double>(divided_up(blocks, work.sms) * (read + written)) / kBytesPerClock +
         static_cast<double>(divided_up(blocks, together)) * kLatency;
}

int reach(const Conv& conv, std::size_t axis, int outputs) {
  return static_cast<int>((outputs - 1) * conv.stride[axis] +
                          (conv.kernel[axis] - 1) * conv.dilation[axis] + 1);
}

}  // namespace

std::string to_string(const StemTile& tile) {
  return "stem tile=" + std::to_string(tile.height) + "x" + std::to_string(tile.width);
}

std::int64_t stem_taps(const Conv& conv) {
  return element_count({conv.in_channels, conv.kernel[0], conv.kernel[1]});
}

int stem_batches(const Conv& conv) {
  return std::max(kFewestStemBatches, static_cast<int>(divided_up(stem_taps(conv), kBatchColumns)));
}

std::vector<std::uint32_t> stem_offsets(const Conv& conv, const StemBox& box) {
  std::vector<std::uint32_t> offsets;
  for (std::int64_t c = 0; c < conv.in_channels; ++c) {
    for (std::int64_t r = 0; r < conv.kernel[0]; ++r) {
      for (std::int64_t s = 0; s < conv.kernel[1]; ++s) {
        const std::int64_t row =
            c * box.plane_pitch + r * conv.dilation[0] * box.row_pitch + s * conv.dilation[1];
        offsets.push_back(static_cast<std::uint32_t>(row * kRowBytes));
      }
    }
  }
  offsets.resize(static_cast<std::size_t>(stem_batches(conv)) * kBatchColumns, offsets.back());
  return offsets;
}

int stem_conflicts(const std::vector<std::uint32_t>& offsets) {
  int conflicts = 0;
  for (std::size_t first = 0; first < offsets.size(); first += kBankClasses) {
    int rows[kBankClasses] = {};
    for (std::size_t i = first; i < first + kBankClasses; ++i) {
      const auto begin = offsets.begin() + static_cast<std::ptrdiff_t>(first);
      const auto at = offsets.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::find(begin, at, *at) == at) ++rows[offsets[i] / kRowBytes % kBankClasses];
    }
    conflicts += *std::max_element(std::begin(rows), std::end(rows)) - 1;
  }
  return conflicts;
}

StemBox stem_box(const Conv& conv, const StemTile& tile) {
  const int height = reach(conv, 0, tile.height), width = reach(conv, 1, tile.width);
  StemBox best;
  int fewest = 0;
  for (int row = width; row < width + kBankClasses; ++row) {
    for (int plane = height * row; plane < height * row + kBankClasses; ++plane) {
      const StemBox box{height, width, row, plane};
      const int conflicts = stem_conflicts(stem_offsets(conv, box));
      const bool is_better = best.height == 0 || conflicts < fewest;
      if (is_better) best = box, fewest = conflicts;
    }
  }
  return best;
}

std::int64_t stem_shared_bytes(const Conv& conv, const StemBox& box) {
  return conv.in_channels * box.plane_pitch * kRowBytes;
}

std::vector<StemTile> best_stem_tiles(const StemWork& work, std::size_t most) {
  std::vector<std::pair<double, StemTile>> fitting;
  for (const StemTile& tile : kTiles) {
    const std::int64_t bytes = stem_shared_bytes(work.conv, stem_box(work.conv, tile));
    if (bytes <= work.most_shared_bytes) fitting.push_back({predicted_clocks(work, tile), tile});
  }
  std::ranges::stable_sort(fitting, {}, [](const auto& entry) { return entry.first; });
  std::vector<StemTile> tiles;
  for (const auto& [clocks, tile] : fitting) {
    if (tiles.size() < most) tiles.push_back(tile);
  }
  return tiles;
}

}  // namespace winnow
