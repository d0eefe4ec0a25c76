#include "runtime/cpu/position_tiles.h"

#include <algorithm>

namespace winnow {
namespace {

constexpr int kFew[] = {1, 2, 3};
constexpr int kWorkTilesPerThread = 4;
constexpr std::int64_t kSmallWork = 20000;  // vector instructions: as long as waking a thread

constexpr std::int64_t kEntriesPerList = 20;  // loading and storing sums must not weigh

std::int64_t cost_of(const PositionPlan& plan, const WorkTile& tile) {
  const std::int64_t block_rows = tile.last_block_row - tile.first_block_row;
  const std::int64_t entries =
      plan.lists[tile.lists].entries(tile.first_block_row, tile.last_block_row);
  return (entries + 4 * block_rows) * tile.rows * tile.cols;
}

std::vector<WorkTile> split_work_tiles(const std::vector<WorkTile>& tiles, std::int64_t groups) {
  std::vector<WorkTile> split;
  for (const WorkTile& tile : tiles) {
    const std::int64_t rows = tile.last_block_row;
    const std::int64_t count = std::clamp<std::int64_t>(groups, 1, rows);
    for (std::int64_t i = 0; i < count; ++i) {
      split.push_back(tile);
      split.back().first_block_row = rows * i / count;
      split.back().last_block_row = rows * (i + 1) / count;
    }
  }
  return split;
}

}  // namespace

TileLimits position_limits(const MicroKernels& kernels, int vector) {
  const auto& table = vector == 1 ? kernels.single : kernels.blocked;
  int points = 1;
  while (points < kMaxCols && table[1][points + 1]) ++points;
  if (vector == 1) return {kTileRows, points, points};
  return {kFew, points, points};
}

void finish_plan(PositionPlan& plan, int threads) {
  std::int64_t total = 0;
  for (const WorkTile& tile : plan.work_tiles) total += cost_of(plan, tile);
  if (total < kSmallWork) threads = 1;
  const std::int64_t wanted = std::int64_t{kWorkTilesPerThread} * threads;
  const auto tiles = static_cast<std::int64_t>(plan.work_tiles.size());
  if (threads > 1 && tiles > 0 && tiles < wanted) {
    plan.work_tiles = split_work_tiles(plan.work_tiles, (wanted + tiles - 1) / tiles);
  }
  std::vector<std::int64_t> costs;
  for (const WorkTile& tile : plan.work_tiles) costs.push_back(cost_of(plan, tile));
  plan.shares = balanced_shares(costs, threads);
}

void run_work_tile(const MicroKernels& kernels, const PositionPlan& plan, const WorkTile& tile,
                   const WorkTileCall& call) {
  const BlockLists& lists = plan.lists[tile.lists];
  const auto& table = lists.vector == 1 ? kernels.single : kernels.blocked;
  const PositionKernel kernel = table[tile.rows][tile.cols];
  const float* in[kMaxRows];
  for (int r = 0; r < tile.rows; ++r) in[r] = call.input + plan.in_address[tile.first_address + r];

  const std::int64_t channel = tile.first_block_row * lists.vector;
  PositionArgs args{};
  args.in = in;
  args.out = call.out;
  args.offset = lists.offset.data();
  args.value = lists.value.data();
  args.block_rows = tile.last_block_row - tile.first_block_row;
  args.channels = std::min(call.channels, tile.last_block_row * lists.vector) - channel;
  args.channel_stride = call.channel_stride;
  for (std::int64_t chunk = 0; chunk < lists.chunks; ++chunk) {
    args.begin = lists.begin.data() + chunk * lists.block_rows + tile.first_block_row;
    args.bias = chunk == 0 ? call.bias + channel : nullptr;
    args.has_relu = call.has_relu && chunk + 1 == lists.chunks;
    kernel(args);
  }
}

std::int64_t chunk_channels(const BlockCsr& blocks, const ConvShape& shape, std::int64_t bytes,
                            std::int64_t budget) {
  const std::int64_t channels = shape.group_channels();
  // A blocked block reuses what it loads, and a group's channels differ from block to block.
  if (blocks.vector > 1 || shape.groups > 1 || channels == 0) return 0;
  const auto entries = static_cast<std::int64_t>(blocks.column.size());
  const std::int64_t lists = channels * std::max<std::int64_t>(blocks.rows(), 1);
  const std::int64_t worthwhile = kEntriesPerList * lists / std::max<std::int64_t>(entries, 1) + 1;
  const std::int64_t fitting = budget / std::max<std::int64_t>(bytes, 1);
  const std::int64_t chunk = std::max({fitting, worthwhile, std::int64_t{1}});
  return chunk >= channels ? 0 : chunk;
}

std::vector<float> padded_bias(std::span<const float> bias, std::int64_t block_rows, int vector) {
  std::vector<float> padded(bias.begin(), bias.end());
  padded.resize(static_cast<std::size_t>(block_rows * vector));
  return padded;
}

}  // namespace winnow
