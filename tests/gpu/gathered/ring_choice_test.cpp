#include "runtime/gpu/gathered/ring_choice.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/gpu/conv_cases.h"

namespace winnow {
namespace {

constexpr std::int64_t kShared = 227 * 1024;

// A layer on a GPU like an H200, with vectors of 16.
RingWork work_of(const Conv& conv, std::int64_t batch, std::int64_t side, double density) {
  const double columns =
      static_cast<double>(conv.in_channels * conv.kernel[0] * conv.kernel[1]) * density;
  return {.conv = conv,
          .in = {batch, conv.in_channels, side, side},
          .groups = (conv.out_channels + 15) / 16,
          .columns = columns,
          .sms = 132,
          .most_shared_bytes = kShared};
}

bool has(const std::vector<RingTile>& tiles, const RingTile& wanted) {
  return std::ranges::find(tiles, wanted) != tiles.end();
}

int blocks_of(const RingWork& work, const RingTile& tile) {
  const RingGrid grid = ring_grid({.conv = work.conv, .tile = tile}, work.in);
  const int parts = static_cast<int>((work.groups + tile.groups - 1) / tile.groups);
  return std::max(1, std::min(work.sms / parts, grid.tiles())) * parts;
}

}  // namespace

TEST_CASE("layers that were measured try the tile that won") {
  const RingTile large = {4, 7, 8, 8, 1, 8};
  for (const double density : {0.25, 0.2, 0.1}) {
    CHECK(
        has(best_ring_tiles(work_of(square_conv(512, 512, 3, 1, 1), 128, 28, density), 4), large));
    CHECK(
        has(best_ring_tiles(work_of(square_conv(512, 512, 3, 1, 1), 128, 14, density), 4), large));
    CHECK(
        has(best_ring_tiles(work_of(square_conv(256, 256, 3, 1, 1), 128, 56, density), 4), large));
  }
  const RingTile larger = {6, 7, 8, 8, 1, 4};
  CHECK(has(best_ring_tiles(work_of(square_conv(128, 128, 3, 1, 1), 128, 112, 0.2), 4), larger));
}

TEST_CASE("warps that groups leave idle take another slice") {
  const auto tiles = best_ring_tiles(work_of(square_conv(64, 64, 3, 1, 1), 128, 56, 0.2), 4);
  REQUIRE(!tiles.empty());
  CHECK(tiles[0].groups * tiles[0].slices == 8);
  CHECK(tiles[0].slices >= 2);
}

TEST_CASE("few tiles spread their groups over more thread blocks") {
  const RingWork one = work_of(square_conv(512, 512, 3, 1, 1), 1, 14, 0.1);
  const auto tiles = best_ring_tiles(one, 4);
  REQUIRE(!tiles.empty());
  CHECK(blocks_of(one, tiles[0]) > 64);
  const RingWork many = work_of(square_conv(512, 512, 3, 1, 1), 128, 28, 0.1);
  CHECK(blocks_of(many, best_ring_tiles(many, 1)[0]) == 132);
}

TEST_CASE("boxes of large kernels and strides get rings of fewer stages") {
  for (const Conv& conv : {square_conv(64, 64, 5, 2, 2), square_conv(3, 64, 7, 2, 3),
                           square_conv(256, 256, 3, 2, 1), square_conv(64, 64, 3, 1, 4, 4)}) {
    CAPTURE(conv.kernel[0]);
    const auto tiles = best_ring_tiles(work_of(conv, 64, 56, 0.1), 4);
    CHECK(tiles.size() >= 2);
  }
  const RingWork wide = work_of(square_conv(3, 64, 7, 2, 3), 64, 224, 0.5);
  for (const RingTile& tile : all_ring_tiles(wide)) CHECK(tile.stages <= 4);
  // A box of 33 x 40 pixels and more does not fit twice.
  CHECK(all_ring_tiles(work_of(square_conv(64, 64, 3, 1, 16, 16), 8, 56, 0.1)).empty());
}

TEST_CASE("kernels of one pixel get as many stages as fit, which fill their batches") {
  const Conv conv = square_conv(2048, 512, 1, 1, 0);
  const auto tiles = best_ring_tiles(work_of(conv, 128, 7, 0.1), 4);
  REQUIRE(!tiles.empty());
  for (const RingTile& tile : tiles) CHECK(tile.stages >= 8);
  CHECK(std::ranges::any_of(tiles, [](const RingTile& tile) { return tile.stages == 16; }));
  for (const RingTile& tile : all_ring_tiles(work_of(square_conv(64, 64, 3, 1, 1), 128, 8, 0.1))) {
    CHECK(tile.stages <= 8);
  }
}

TEST_CASE("what is added is copied too") {
  RingWork work = work_of(square_conv(64, 256, 1, 1, 0), 128, 56, 0.1);
  RingWork adding = work;
  adding.adds = true;
  CHECK(all_ring_tiles(adding) == all_ring_tiles(work));
  for (const RingTile& tile : all_ring_tiles(work)) {
    CHECK(ring_clocks(adding, tile) > ring_clocks(work, tile));
  }
}

TEST_CASE("every tile that is offered can run, and those with pooling have whole windows") {
  for (const ConvCase& c : conv_cases()) {
    RingWork work = work_of(c.conv, c.batch, c.width, 0.2);
    work.in.h = c.height;
    for (const RingPool pool : {RingPool::none, RingPool::max}) {
      work.pool = pool;
      for (const RingTile& tile : all_ring_tiles(work)) {
        CHECK(is_valid(tile, box_of(tile, work.conv), kShared));
        CHECK(ring_clocks(work, tile) > 0);
        if (pool == RingPool::max) CHECK(can_pool(tile));
      }
      const auto best = best_ring_tiles(work, 4);
      CHECK(best.size() <= 4);
      CHECK(best.size() >= 1);
    }
  }
}

TEST_CASE("strided kernels of one pixel copy only the pixels that they read") {
  const RingTile tile = {4, 7, 8, 8, 1, 8};
  const RingBox box = box_of(tile, square_conv(64, 64, 1, 2, 0));
  CHECK(box.height == 4);
  CHECK(box.width == 7);
  CHECK(box.step_x == 2);
  CHECK(has_unit_steps(box, square_conv(64, 64, 1, 2, 0)));
  CHECK(box_of(tile, square_conv(64, 64, 3, 2, 1)).width == 15);
  CHECK(to_string(tile) == "ring tile=4x7 warps=8 groups=8 slices=1 stages=8");
}

}  // namespace winnow
