// The pure parts: spans of the border, blocks, lists, tiles, shares.
#include <doctest/doctest.h>

#include <numeric>
#include <set>

#include "runtime/base/random.h"
#include "runtime/cpu/block_lists.h"
#include "runtime/cpu/conv_shape.h"
#include "runtime/cpu/tiles.h"
#include "runtime/plan/block_csr.h"
#include "tests/throws.h"

namespace winnow {
namespace {

ConvShape line(std::int64_t width, std::int64_t kernel, std::int64_t padding) {
  ConvShape shape;
  shape.in = {1, 1, 1, width};
  shape.out = {1, 1, 1, width + 2 * padding - kernel + 1};
  shape.kernel = {1, kernel};
  shape.padding = {0, padding};
  return shape;
}

TEST_CASE("border spans name the taps inside the input") {
  const std::vector<BorderSpan> expected = {{0, 1, 1, 3}, {1, 7, 0, 3}, {7, 8, 0, 2}};
  CHECK(border_spans(line(8, 3, 1), 1) == expected);
  CHECK(border_spans(line(8, 3, 0), 1) == std::vector<BorderSpan>{{0, 6, 0, 3}});
  CHECK(border_spans(line(2, 3, 1), 1) == std::vector<BorderSpan>{{0, 1, 1, 3}, {1, 2, 0, 2}});
}

TEST_CASE("outputs that see padding only have no taps") {
  // Kernel 1 on padding 2: the outer two outputs on each side see nothing.
  const std::vector<BorderSpan> expected = {{0, 2, 0, 0}, {2, 5, 0, 1}, {5, 7, 0, 0}};
  CHECK(border_spans(line(3, 1, 2), 1) == expected);
}

TEST_CASE("blocks without a nonzero are left out, and splitting keeps the weights") {
  Random random(3);
  for (const int vector : {8, 16, 32}) {
    const std::int64_t channels = random.between(1, 70), cols = random.between(1, 30);
    std::vector<float> weight(static_cast<std::size_t>(channels * cols));
    for (float& x : weight) x = random.chance(0.05) ? static_cast<float>(random.normal()) : 0.0f;
    const BlockCsr blocks = block_csr(weight, channels, vector);
    CHECK(dense_weight(blocks) == weight);
    for (const int narrow : {1, 4, 8}) {
      const BlockCsr split = split_blocks(blocks, narrow);
      CHECK(split.vector == narrow);
      CHECK(split.rows() == (channels + narrow - 1) / narrow);
      CHECK(dense_weight(split) == weight);
    }
    const auto nonzeros =
        std::count_if(weight.begin(), weight.end(), [](float x) { return x != 0; });
    CHECK(static_cast<std::int64_t>(split_blocks(blocks, 1).column.size()) == nonzeros);
  }
}

TEST_CASE("block lists hold every weight once, whatever the chunks") {
  // Two output channels of three inputs, kernel 1 x 2: columns 0 .. 5.
  const std::vector<float> weight = {1, 0, 0, 2, 3, 0, 0, 4, 0, 0, 0, 5};
  ConvShape shape;
  shape.in = {1, 3, 1, 8};
  shape.out = {1, 2, 1, 7};
  shape.kernel = {1, 2};
  const OffsetRule rule = [](std::int64_t c, std::int64_t, std::int64_t s) { return 10 * c + s; };
  const BlockCsr blocks = block_csr(weight, 2, 1);
  const BlockLists whole = make_block_lists(blocks, shape, rule, {all_taps(shape), 0});
  CHECK(whole.offset == std::vector<std::int32_t>{0, 11, 20, 1, 21});
  CHECK(whole.begin == std::vector<std::int64_t>{0, 3, 5});
  const BlockLists chunked = make_block_lists(blocks, shape, rule, {all_taps(shape), 2});
  CHECK(chunked.chunks == 2);
  CHECK(chunked.offset == std::vector<std::int32_t>{0, 11, 1, 20, 21});
  CHECK(chunked.value == std::vector<float>{1, 2, 4, 3, 5});
  CHECK(chunked.entries(0, 2) == 5);
  CHECK(chunked.entries(1, 2) == 2);
  const BlockLists right = make_block_lists(blocks, shape, rule, {{0, 1, 1, 2}, 0});
  CHECK(right.value == std::vector<float>{2, 4, 5});
}

TEST_CASE("offsets beyond 32 bits are refused") {
  ConvShape shape;
  shape.in = shape.out = {1, 1, 1, 1};
  const OffsetRule rule = [](std::int64_t, std::int64_t, std::int64_t) {
    return std::int64_t{1} << 31;
  };
  const BlockCsr blocks = block_csr(std::vector<float>{1}, 1, 1);
  CHECK(error_of([&] {
          make_block_lists(blocks, shape, rule, {all_taps(shape), 0});
        }) == ErrorCode::usage);
}

TEST_CASE("tiles cover every point once and fit the kernels") {
  constexpr int kRows[] = {1, 2, 4, 8};
  for (const int points : {1, 3, 6, 12, 16}) {
    for (std::int64_t rows = 1; rows <= 20; ++rows) {
      for (std::int64_t width = 1; width <= 40; ++width) {
        std::vector<int> covered(static_cast<std::size_t>(rows * width));
        for (const Tile& tile : cut_tiles(rows, width, {kRows, points, points})) {
          REQUIRE(tile.rows * tile.cols <= points);
          REQUIRE(std::count(std::begin(kRows), std::end(kRows), tile.rows) == 1);
          for (std::int64_t r = tile.row; r < tile.row + tile.rows; ++r) {
            for (std::int64_t c = tile.col; c < tile.col + tile.cols; ++c) {
              ++covered[static_cast<std::size_t>(r * width + c)];
            }
          }
        }
        REQUIRE(std::count(covered.begin(), covered.end(), 1) == rows * width);
      }
    }
  }
}

TEST_CASE("tiles use wide rows where there are, many rows where not") {
  constexpr int kRows[] = {1, 2, 4, 8};
  CHECK(cut_tiles(1, 32, {kRows, 16, 16}).size() == 2);
  CHECK(cut_tiles(8, 2, {kRows, 16, 16}).size() == 1);
  CHECK(cut_tiles(4, 7, {kRows, 16, 16}).size() == 2);
}

TEST_CASE("shares are contiguous, complete and balanced") {
  CHECK(balanced_shares(std::vector<std::int64_t>{5, 5, 5, 5}, 2) ==
        std::vector<std::int64_t>{0, 2, 4});
  CHECK(balanced_shares(std::vector<std::int64_t>{9, 1, 1, 1}, 2) ==
        std::vector<std::int64_t>{0, 1, 4});
  CHECK(balanced_shares({}, 3) == std::vector<std::int64_t>{0, 0, 0, 0});
  Random random(11);
  std::vector<std::int64_t> costs;
  for (int i = 0; i < 500; ++i) costs.push_back(random.between(1, 20));
  const std::int64_t total = std::accumulate(costs.begin(), costs.end(), std::int64_t{0});
  for (const int parts : {1, 2, 3, 7}) {
    const std::vector<std::int64_t> shares = balanced_shares(costs, parts);
    REQUIRE(shares.back() == 500);
    for (int part = 0; part < parts; ++part) {
      const std::int64_t cost = std::accumulate(costs.begin() + shares[part],
                                                costs.begin() + shares[part + 1], std::int64_t{0});
      CHECK(std::abs(cost - total / parts) <= 21);
    }
  }
}

}  // namespace
}  // namespace winnow
