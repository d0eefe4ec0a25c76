#include "runtime/cpu/position_tiles.h"

#include <algorithm>

namespace winnow {
namespace {

constexpr int kPowers[] = {1, 2, 4, 8};
constexpr int kFew[] = {1, 2, 3};
constexpr int kItemsPerThread = 4;
constexpr std::int64_t kSmallWork = 20000;  // vector instructions: as long as waking a thread

constexpr std::int64_t kEntriesPerList = 20;  // loading and storing sums must not weigh

std::int64_t cost_of(const PositionPlan& plan, const TileItem& item) {
  const std::int64_t blocks = item.last_block - item.first_block;
  const std::int64_t entries = plan.lists[item.lists].entries(item.first_block, item.last_block);
  return (entries + 4 * blocks) * item.rows * item.cols;
}

std::vector<TileItem> split_items(const std::vector<TileItem>& items, std::int64_t groups) {
  std::vector<TileItem> split;
  for (const TileItem& item : items) {
    const std::int64_t blocks = item.last_block,
                       count = std::clamp<std::int64_t>(groups, 1, blocks);
    for (std::int64_t i = 0; i < count; ++i) {
      split.push_back(item);
      split.back().first_block = blocks * i / count;
      split.back().last_block = blocks * (i + 1) / count;
    }
  }
  return split;
}

}  // namespace

TileLimits position_limits(const MicroKernels& kernels, int vector) {
  const auto& table = vector == 1 ? kernels.single : kernels.blocked;
  int points = 1;
  while (points < kMaxCols && table[1][points + 1]) ++points;
  if (vector == 1) return {kPowers, points, points};
  return {kFew, points, points};
}

void finish_plan(PositionPlan& plan, int threads) {
  std::int64_t total = 0;
  for (const TileItem& item : plan.items) total += cost_of(plan, item);
  if (total < kSmallWork) threads = 1;
  const std::int64_t wanted = std::int64_t{kItemsPerThread} * threads;
  const auto tiles = static_cast<std::int64_t>(plan.items.size());
  if (threads > 1 && tiles > 0 && tiles < wanted) {
    plan.items = split_items(plan.items, (wanted + tiles - 1) / tiles);
  }
  std::vector<std::int64_t> costs;
  for (const TileItem& item : plan.items) costs.push_back(cost_of(plan, item));
  plan.shares = balanced_shares(costs, threads);
}

void run_item(const MicroKernels& kernels, const PositionPlan& plan, const TileItem& item,
              const ItemCall& call) {
  const BlockLists& lists = plan.lists[item.lists];
  const auto& table = lists.vector == 1 ? kernels.single : kernels.blocked;
  const PositionKernel kernel = table[item.rows][item.cols];
  const float* in[kMaxRows];
  for (int r = 0; r < item.rows; ++r) in[r] = call.input + plan.in_address[item.first_address + r];

  const std::int64_t channel = item.first_block * lists.vector;
  PositionArgs args{};
  args.in = in;
  args.out = call.out;
  args.offset = lists.offset.data();
  args.value = lists.value.data();
  args.blocks = item.last_block - item.first_block;
  args.channels = std::min(call.channels, item.last_block * lists.vector) - channel;
  args.channel_stride = call.channel_stride;
  for (std::int64_t chunk = 0; chunk < lists.chunks; ++chunk) {
    args.begin = lists.begin.data() + chunk * lists.blocks + item.first_block;
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

std::vector<float> padded_bias(std::span<const float> bias, std::int64_t blocks, int vector) {
  std::vector<float> padded(bias.begin(), bias.end());
  padded.resize(static_cast<std::size_t>(blocks * vector));
  return padded;
}

}  // namespace winnow
