#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/gpu/conv/direct_conv.h"
#include "tests/throws.h"

namespace winnow {

TEST_CASE("direct_tiles gives valid tiles for every layer and sub-batch") {
  for (const int vector : {1, 8, 16, 32}) {
    for (const Layout layout : {Layout::nchw, Layout::chwn8}) {
      for (const std::int64_t images : {1, 2, 3, 8, 128}) {
        for (const std::int64_t side : {1, 2, 14, 224}) {
          const DirectWork work{.out = {images, 64, side, side},
                                .rows = 64 / vector,
                                .vector = vector,
                                .layout = layout,
                                .sms = 132};
          for (const int sub_batch : {0, 1, 2, 4, 8}) {
            const std::vector<DirectTile> tiles = direct_tiles(work, sub_batch);
            const bool exists = layout == Layout::nchw || sub_batch == 0 || sub_batch >= 4;
            CAPTURE(vector);
            CAPTURE(images);
            CAPTURE(side);
            CAPTURE(sub_batch);
            CHECK(tiles.empty() != exists);
            for (const DirectTile& tile : tiles) {
              const bool is_asked = sub_batch == 0 || tile.sub_batch == sub_batch;
              CHECK(is_asked);
              CHECK(is_valid(tile, layout, vector));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("direct_tiles splits the nonzeros where a layer alone would not fill the GPU") {
  const DirectWork small{.out = {1, 512, 2, 2}, .rows = 32, .vector = 16, .sms = 132};
  const DirectWork large{.out = {128, 512, 28, 28}, .rows = 32, .vector = 16, .sms = 132};
  const auto is_split = [](const DirectTile& tile) { return tile.slices > 1; };
  const auto has_split = [&](const DirectWork& work) {
    const std::vector<DirectTile> tiles = direct_tiles(work, 0);
    return std::any_of(tiles.begin(), tiles.end(), is_split);
  };
  CHECK(has_split(small));
  CHECK_FALSE(has_split(large));
}

TEST_CASE("direct_tiles gives every SM a share of few rows where there are clusters") {
  DirectWork work{
      .out = {1, 512, 2, 2}, .rows = 32, .vector = 16, .sms = 132, .has_clusters = true};
  const auto most_shares = [&] {
    int most = 0;
    for (const DirectTile& tile : direct_tiles(work, 0)) most = std::max(most, tile.shares);
    return most;
  };
  CHECK(most_shares() == 8);  // 32 rows: 256 thread blocks; 128 are too few
  work.rows = 80;
  CHECK(most_shares() == 2);
  work.rows = 200;
  CHECK(most_shares() == 1);
  work.rows = 32;
  work.has_clusters = false;
  CHECK(most_shares() == 1);
}

TEST_CASE("shares of a row have all of its blocks once") {
  for (const int blocks : {0, 4, 8, 12, 36, 1352}) {
    for (const int shares : {1, 2, 4, 8}) {
      CAPTURE(blocks);
      CAPTURE(shares);
      int next = 0;
      for (int rank = 0; rank < shares; ++rank) {
        const DirectShare share = direct_share(blocks, shares, rank);
        CHECK(share.first == next);
        CHECK(share.blocks >= 0);
        CHECK(share.blocks % kDirectUnroll == 0);
        next += share.blocks;
      }
      CHECK(next == blocks);
    }
  }
}

TEST_CASE("a tile's name tells its shares where there are several") {
  CHECK(to_string(DirectTile{}) == "channels=1 sub_batch=1 positions=128 slices=1");
  CHECK(to_string(DirectTile{.positions = 32, .slices = 8, .shares = 4}) ==
        "channels=1 sub_batch=1 positions=32 slices=8 shares=4");
}

TEST_CASE("is_valid refuses tiles without a kernel") {
  CHECK(is_valid({.channels = 16, .sub_batch = 4}, Layout::nchw, 32));
  CHECK_FALSE(is_valid({.channels = 16, .sub_batch = 8}, Layout::nchw, 32));  // 128 sums
  CHECK_FALSE(is_valid({.channels = 16, .sub_batch = 4}, Layout::nchw, 8));
  CHECK_FALSE(is_valid({.channels = 1, .sub_batch = 2}, Layout::chwn8, 1));
  CHECK_FALSE(is_valid({.channels = 1, .sub_batch = 3}, Layout::nchw, 1));
  CHECK_FALSE(is_valid({.channels = 1, .sub_batch = 1}, Layout::nhwc, 1));
  CHECK_FALSE(is_valid({.channels = 8, .sub_batch = 8, .slices = 2}, Layout::nchw, 8));
  CHECK_FALSE(is_valid({.channels = 8, .sub_batch = 8, .shares = 2}, Layout::nchw, 8));
  CHECK_FALSE(is_valid({.positions = 32, .shares = 3}, Layout::nchw, 1));
  CHECK_FALSE(is_valid({.positions = 32, .shares = 16}, Layout::nchw, 1));
  CHECK_FALSE(is_valid({.positions = 48}, Layout::nchw, 1));
  CHECK_FALSE(is_valid({.positions = 256, .slices = 2}, Layout::nchw, 1));
}

TEST_CASE("direct_conv refuses strides beyond 31 bits instead of truncating them") {
  // Outputs of neighbouring rows would be 65536 rows of 70000 values apart.
  const DirectLayer layer{.conv = {.in_channels = 1, .out_channels = 1, .stride = {65536, 1}},
                          .tile = {.channels = 1, .positions = 32}};
  const ActivationView plane{nullptr, {.layout = Layout::nchw}, {1, 1, 1, 70000}};
  DirectWeights weights;
  weights.rows = weights.channels = weights.thread_channels = 1;
  weights.input = strides_of(plane.format, plane.size);
  const auto run = [&] { direct_conv(layer, weights, plane, plane, nullptr); };
  CHECK(error_of(run) == ErrorCode::device);
  CHECK(message_of(run) ==
        "direct_conv: 4587520000 elements between the inputs of two rows, more than 31 bits can "
        "count");
}

}  // namespace winnow
