#include "runtime/gpu/gathered/ring_launch.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <vector>

#include "runtime/base/divided_up.h"
#include "runtime/gpu/gathered/ring_clocks.h"

namespace winnow {
namespace {

constexpr int kPixelElements = kStageChannels * kGatheredImages;
constexpr int kPixelBytes = kStageChannels * kRowBytes;

bool reads_single_pixels(const Conv& conv) {
  const Pair one = {1, 1}, zero = {0, 0};
  return conv.kernel == one && conv.stride == one && conv.padding == zero;
}

RingMap map_of(const RingProblem& problem, const Extents& size) {
  RingMap map;
  map.height = static_cast<int>(size.h);
  map.width = static_cast<int>(size.w);
  map.images = static_cast<int>(divided_up(size.n, kGatheredImages));
  map.blocks = static_cast<int>(divided_up(size.c, kStageChannels));
  map.column = kPixelElements;
  map.block = size.h * size.w * kPixelElements;
  map.image = map.blocks * map.block;
  const bool is_plain = problem.pool == RingPool::none && reads_single_pixels(problem.conv);
  if (is_plain && size.h * size.w == 1) {
    map.width = map.images;
    map.images = 1;
    map.column = map.blocks * kPixelElements;
  } else if (is_plain && problem.tile.rows() == 1) {
    map.width *= map.height;
    map.height = 1;
  }
  map.row = map.width * map.column;
  return map;
}

// Clocks of a tile for each part: its longest group decides.
std::vector<double> clocks_of_parts(const RingProblem& problem, const RingWeights& weights) {
  std::vector<double> clocks;
  for (std::size_t p = 0; p + 1 < weights.stage_begin.size(); ++p) {
    const auto first = static_cast<std::int64_t>(p) * problem.tile.groups;
    const std::int64_t groups = std::min<std::int64_t>(problem.tile.groups, weights.groups - first);
    const auto* batches = weights.batches.data() + first;
    clocks.push_back(tile_clocks(
        problem, {.groups = static_cast<int>(groups),
                  .batches = static_cast<double>(*std::max_element(batches, batches + groups)),
                  .input_blocks = weights.addend_begin[p] - weights.stage_begin[p]}));
  }
  return clocks;
}

// One for each part, and then always one more for the part that would end last.
std::vector<int> blocks_of_parts(const std::vector<double>& clocks, int tiles, int sms) {
  std::vector<int> blocks(clocks.size(), 1);
  const auto end_of = [&](std::size_t p) { return divided_up(tiles, blocks[p]) * clocks[p]; };
  for (auto left = sms - static_cast<int>(clocks.size()); left > 0; --left) {
    std::size_t last = 0;
    for (std::size_t p = 1; p < clocks.size(); ++p) last = end_of(p) > end_of(last) ? p : last;
    if (blocks[last] >= tiles) break;
    ++blocks[last];
  }
  return blocks;
}

}  // namespace

Extents conv_output(const Conv& conv, const Extents& in) {
  const auto outputs = [&](std::int64_t size, std::size_t axis) {
    const std::int64_t reach = conv.dilation[axis] * (conv.kernel[axis] - 1) + 1;
    return (size + 2 * conv.padding[axis] - reach) / conv.stride[axis] + 1;
  };
  return {in.n, conv.out_channels, outputs(in.h, 0), outputs(in.w, 1)};
}

Extents ring_output(const RingProblem& problem, const Extents& in) {
  Extents out = conv_output(problem.conv, in);
  if (problem.pool != RingPool::none) out.h /= 2, out.w /= 2;
  return out;
}

bool can_pool(const RingTile& tile) {
  return tile.height % 2 == 0 && tile.width % 2 == 0;
}

RingMap input_map(const RingProblem& problem, const Extents& in) {
  const RingBox box = box_of(problem.tile, problem.conv);
  RingMap map = map_of(problem, in);
  map.height = divided_up(map.height, box.step_y);
  map.width = divided_up(map.width, box.step_x);
  map.row *= box.step_y;
  map.column *= box.step_x;
  return map;
}

RingMap output_map(const RingProblem& problem, const Extents& in) {
  return map_of(problem, ring_output(problem, in));
}

RingBox output_box(const RingTile& tile) {
  return {.height = tile.rows(), .width = tile.width};
}

RingGrid ring_grid(const RingProblem& problem, const Extents& in) {
  const RingMap out = output_map(problem, in);
  const int side = problem.pool == RingPool::none ? 1 : 2;
  return {divided_up(out.width * side, problem.tile.width),
          divided_up(out.height * side, problem.tile.rows()), out.images};
}

RingArguments ring_arguments(const RingProblem& problem, const RingWeights& weights,
                             const Extents& in, int sms) {
  const Conv& conv = problem.conv;
  const RingTile& tile = problem.tile;
  const RingBox box = box_of(tile, conv);
  const RingGrid grid = ring_grid(problem, in);
  RingArguments a;
  a.groups = static_cast<int>(weights.groups);
  a.parts = static_cast<int>(weights.stage_begin.size()) - 1;
  a.part_groups = tile.groups;
  a.slices = tile.slices;
  a.capacity = static_cast<int>(weights.capacity);
  a.input_blocks = static_cast<int>(divided_up(in.c, kStageChannels));
  a.map = output_map(problem, in);
  a.pool = problem.pool;
  a.tile_height = tile.rows();
  a.tiles_x = divisor_of(grid.tiles_x);
  a.tiles_y = divisor_of(grid.tiles_y);
  a.tiles = grid.tiles();
  const std::vector<int> blocks = blocks_of_parts(clocks_of_parts(problem, weights), a.tiles, sms);
  std::partial_sum(blocks.begin(), blocks.end(), a.part_begin + 1);
  a.stride_y = static_cast<int>(conv.stride[0]) / box.step_y;
  a.stride_x = static_cast<int>(conv.stride[1]) / box.step_x;
  a.padding_y = static_cast<int>(conv.padding[0]) / box.step_y;
  a.padding_x = static_cast<int>(conv.padding[1]) / box.step_x;
  a.stage_bytes = static_cast<std::uint32_t>(box.rows() * kRowBytes);
  if (problem.adds) {
    a.addend_bytes = static_cast<std::uint32_t>(output_box(tile).rows() * kRowBytes);
  }
  a.ring_bytes = a.stage_bytes * static_cast<std::uint32_t>(tile.stages);
  a.stage_mask = static_cast<std::uint32_t>(tile.stages - 1);
  a.stage_bits = static_cast<std::uint32_t>(std::countr_zero(a.stage_mask + 1));
  a.row_step = static_cast<std::uint32_t>(a.stride_y * box.width * kPixelBytes);
  a.column_step = static_cast<std::uint32_t>(a.stride_x * kPixelBytes);
  a.pair_step = tile.height % 2 == 0 ? static_cast<std::uint32_t>(tile.height / 2) * a.row_step
                                     : static_cast<std::uint32_t>(tile.width / 2) * a.column_step;
  a.slice_step = static_cast<std::uint32_t>(tile.height) * a.row_step;
  a.least = problem.has_relu ? 0.0f : -std::numeric_limits<float>::infinity();
  return a;
}

}  // namespace winnow
