#include "runtime/challenge/engines/cpu/layer_tiles.h"

#include <doctest/doctest.h>

#include "tests/challenge/random_network.h"

namespace winnow::challenge {
namespace {

using Numbers = std::vector<std::uint32_t>;

// Outputs 0, 2 and 3 read inputs 1 and 2; output 1 reads input 0, output 4 nothing.
SparseLayer sample_layer() {
  return {.inputs = 3,
          .row_begin = {0, 2, 3, 5, 7, 7},
          .input = {1, 2, 0, 1, 2, 1, 2},
          .value = {1, 2, 3, 4, 5, 6, 7},
          .bias = {10, 11, 12, 13, 14}};
}

}  // namespace

TEST_CASE("outputs that read the same inputs come to lie side by side") {
  const OutputOrder order = order_by_inputs(sample_layer());
  CHECK(order.output == Numbers{0, 2, 3, 1, 4});
  CHECK(order.group_begin == Numbers{0, 3, 4, 5});
  CHECK(places(order) == Numbers{0, 3, 1, 2, 4});
}

TEST_CASE("a group becomes tiles that share a list of inputs, in the order of their places") {
  const SparseLayer layer = sample_layer();
  const LayerTiles tiles = make_layer_tiles(layer, order_by_inputs(layer), {2, 1, 0});
  REQUIRE(tiles.tile.size() == 4);
  CHECK(tiles.tile[0].height == 2);
  CHECK(tiles.tile[1].height == 1);
  CHECK(tiles.tile[1].output == 2);
  CHECK(tiles.tile[1].input_begin == tiles.tile[0].input_begin);
  CHECK(tiles.tile[3].inputs == 0);
  // Input 2 has place 0 and comes before input 1; the two outputs' weights alternate.
  Numbers input = tiles.input;
  input.resize(input.size() - kPrefetchDistance);
  CHECK(input == Numbers{0, kSlabLanes, 2 * kSlabLanes});
  CHECK(tiles.value == std::vector<float>{2, 5, 1, 4, 7, 6, 3});
  CHECK(tiles.bias == std::vector<float>{10, 12, 13, 11, 14});
}

TEST_CASE("17 equal rows become tiles of 8, 8 and 1") {
  SparseLayer layer{.inputs = 1, .row_begin = {0}, .input = {}, .value = {}, .bias = {}};
  for (std::uint32_t j = 0; j < 17; ++j) {
    layer.input.push_back(0);
    layer.value.push_back(1);
    layer.bias.push_back(0);
    layer.row_begin.push_back(j + 1);
  }
  Numbers heights;
  for (const OutputTile& tile : make_layer_tiles(layer, order_by_inputs(layer), {}).tile) {
    heights.push_back(tile.height);
  }
  CHECK(heights == Numbers{8, 8, 1});
}

TEST_CASE("blocks cover all tiles and have nearly equal numbers of outputs") {
  const MemoryNetwork network = random_network({.widths = {50, 331}, .seed = 9});
  const LayerTiles tiles =
      make_layer_tiles(network.layer(0), order_by_inputs(network.layer(0)), {});
  for (const std::uint32_t blocks : {1, 2, 7, 64, 1000}) {
    CAPTURE(blocks);
    const Numbers begin = cut_into_blocks(tiles, blocks);
    REQUIRE(begin.size() == blocks + std::size_t{1});
    CHECK(begin.front() == 0);
    CHECK(begin.back() == tiles.tile.size());
    for (std::size_t b = 0; b < blocks; ++b) {
      REQUIRE(begin[b] <= begin[b + 1]);
      std::uint32_t outputs = 0;
      for (std::uint32_t t = begin[b]; t < begin[b + 1]; ++t) outputs += tiles.tile[t].height;
      CHECK(outputs <= 331 / blocks + 1 + kLargestHeight);
    }
  }
}

}  // namespace winnow::challenge
