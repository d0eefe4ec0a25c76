#include "runtime/gpu/gathered/resident_index.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "runtime/base/random.h"
#include "runtime/gpu/gathered/channel_places.h"
#include "tests/gpu/conv_cases.h"
#include "tests/gpu/gathered/resident_emulation.h"
#include "tests/gpu/random_values.h"

namespace winnow {
namespace {

double largest_error(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  double error = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double difference = std::abs(static_cast<double>(found[i]) - expected[i]);
    if (!(difference <= error)) error = difference;
  }
  return error;
}

// Weights are half floats in the packing; random values are too.
class Layer {
 public:
  Layer(const ConvCase& c, int vector, double density, RandomValues& random)
      : conv(c.conv),
        input(random.array({c.batch, conv.in_channels, c.height, c.width})),
        bias(random.reals(static_cast<std::size_t>(conv.out_channels))) {
    const std::int64_t cols = conv.in_channels / conv.groups * conv.kernel[0] * conv.kernel[1];
    const CsrWeight weight = random.weight(conv.out_channels, cols, vector, density);
    expected = expected_conv(conv, input, to_dense(weight), bias, false);
    groups = gathered_groups(block_csr(weight), conv);
    place = balanced_places(plain_places(conv.in_channels), {{&groups, &conv}});
    output_place = plain_places(conv.out_channels);
    Random order(random.below(1000));
    shuffle(output_place, order);
  }

  Extents in() const { return extents_of(input.shape); }
  Extents out() const { return extents_of(expected.shape); }

  // Whether a tile computes it as the reference does, with or without an added tensor and a pool.
  void check(const ResidentTile& tile, bool has_addend, RingPool pool, RandomValues& random) const {
    CAPTURE(to_string(tile));
    const ResidentGeometry g = resident_geometry(tile, conv, in(), out());
    const ResidentConvWeights weights =
        pack_for_resident(groups, conv, tile, g, place, output_place);
    reference::Array wanted = expected;
    std::vector<float> addend;
    if (has_addend) {
      addend = random.reals(wanted.values.size());
      for (std::size_t i = 0; i < addend.size(); ++i) wanted.values[i] += addend[i];
    }
    wanted = reference::relu(wanted);
    if (pool != RingPool::none) {
      wanted = reference::pool({.kind = pool == RingPool::max ? PoolKind::max : PoolKind::average},
                               wanted);
    }
    const std::vector<float> found = emulate_resident({conv, tile, true, pool}, weights, bias,
                                                      input, place, output_place, addend, out());
    CHECK(largest_error(found, wanted.values) < 1e-3);
  }

  Conv conv;
  reference::Array input, expected;
  std::vector<float> bias;
  GatheredGroups groups;
  std::vector<std::int32_t> place, output_place;
};

// Every n-th valid tile, so that all kinds come up.
void check_some_tiles(const Layer& layer, const ResidentLimits& limits, std::size_t count,
                      RandomValues& random) {
  const std::vector<ResidentTile> tiles =
      valid_resident_tiles({layer.conv, layer.in(), layer.out()}, limits);
  REQUIRE(!tiles.empty());
  const std::size_t step = std::max<std::size_t>(1, tiles.size() / count);
  for (std::size_t t = random.below(step); t < tiles.size(); t += step) {
    const bool pools = can_pool(tiles[t], layer.out());
    const auto pool = static_cast<RingPool>(pools ? random.below(3) : 0);
    layer.check(tiles[t], random.below(2) == 0, pool, random);
  }
}

}  // namespace

TEST_CASE("the resident convolution's indices and weights give the reference's output") {
  RandomValues random(41);
  for (const ConvCase& c : conv_cases()) {
    CAPTURE(c.batch);
    CAPTURE(c.height);
    CAPTURE(c.width);
    CAPTURE(c.conv.in_channels);
    CAPTURE(c.conv.kernel[1]);
    check_some_tiles(Layer(c, 16, 0.3, random), {}, 6, random);
    check_some_tiles(Layer(c, 1, 0.1, random), {}, 3, random);
  }
}

TEST_CASE("the resident convolution's indices hold for ragged shapes") {
  RandomValues random(42);
  const auto between = [&](std::size_t low, std::size_t high) {
    return static_cast<std::int64_t>(low + random.below(high - low + 1));
  };
  for (int i = 0; i < 150; ++i) {
    ConvCase c{between(1, 20), between(1, 9), between(1, 9), {}};
    c.conv.in_channels = between(1, 70);
    c.conv.out_channels = between(1, 40);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      c.conv.kernel[axis] = between(1, 5);
      c.conv.stride[axis] = between(1, 3);
      c.conv.padding[axis] = between(0, 3);
      c.conv.dilation[axis] = between(1, 2);
    }
    const std::int64_t height = c.height + 2 * c.conv.padding[0];
    const std::int64_t width = c.width + 2 * c.conv.padding[1];
    if (height < c.conv.dilation[0] * (c.conv.kernel[0] - 1) + 1) continue;
    if (width < c.conv.dilation[1] * (c.conv.kernel[1] - 1) + 1) continue;
    CAPTURE(i);
    const double densities[] = {0.0, 0.02, 0.3, 1.0};
    check_some_tiles(Layer(c, 16, densities[random.below(4)], random), {}, 2, random);
  }
}

TEST_CASE("the resident convolution's indices hold for the tiles of real layers") {
  RandomValues random(43);
  struct Size {
    std::int64_t channels, side;
  };
  for (const Size& size : {Size{64, 32}, {128, 16}, {256, 8}, {512, 4}, {512, 2}}) {
    const Conv conv{
        .in_channels = size.channels, .out_channels = 64, .kernel = {3, 3}, .padding = {1, 1}};
    CAPTURE(size.channels);
    const Layer layer({9, size.side, size.side, conv}, 16, 0.05, random);
    for (const ResidentTile& tile :
         resident_tiles({conv, layer.in(), layer.out(), size.channels / 2, true}, {}, 2)) {
      layer.check(tile, false, RingPool::max, random);
    }
  }
}

// Measured on an H200, all tiles of a layer in one process; the fastest or within 10 % of it.
TEST_CASE("the chosen tiles include the divisions that were measured to be fastest") {
  struct Measured {
    std::int64_t batch, channels, side;
    int height, width, images, warps, groups, split, passes;
  };
  for (const Measured& m : {Measured{128, 64, 32, 2, 16, 1, 8, 4, 1, 2},
                            {128, 128, 16, 2, 16, 1, 8, 8, 1, 1},
                            {128, 256, 8, 2, 8, 1, 8, 8, 1, 1},
                            {128, 512, 4, 4, 4, 1, 8, 4, 2, 1},
                            {128, 512, 2, 2, 2, 1, 16, 4, 4, 1},
                            {8, 512, 4, 4, 4, 1, 8, 1, 8, 1},
                            {8, 512, 2, 2, 2, 1, 16, 1, 8, 1}}) {
    const Conv conv{
        .in_channels = m.channels, .out_channels = m.channels, .kernel = {3, 3}, .padding = {1, 1}};
    const Extents size{m.batch, m.channels, m.side, m.side};
    CAPTURE(m.batch);
    CAPTURE(m.channels);
    CAPTURE(m.side);
    for (const std::int64_t percent : {20, 10}) {
      const auto tiles = resident_tiles({conv, size, size, m.channels * 9 * percent / 100}, {}, 4);
      CHECK(std::ranges::any_of(tiles, [&](const ResidentTile& t) {
        return t.form.height == m.height && t.form.width == m.width && t.form.images == m.images &&
               t.form.warps == m.warps && t.groups == m.groups && t.split == m.split &&
               t.passes == m.passes && t.cluster == 1;
      }));
    }
  }
}

TEST_CASE("small batches share a group's columns among warps") {
  for (const std::int64_t batch : {1, 8}) {
    for (const std::int64_t side : {4, 2}) {
      const Conv conv{.in_channels = 512, .out_channels = 512, .kernel = {3, 3}, .padding = {1, 1}};
      const Extents size{batch, 512, side, side};
      const ResidentTile tile = resident_tiles({conv, size, size, 512}, {}, 1).at(0);
      CAPTURE(to_string(tile));
      CHECK(tile.groups == 1);
      CHECK(tile.split >= 4);
    }
  }
}

TEST_CASE("the tile of the fewest clocks comes first") {
  const Conv conv{.in_channels = 256, .out_channels = 256, .kernel = {3, 3}, .padding = {1, 1}};
  const Extents size{128, 256, 8, 8};
  const ResidentWork work{conv, size, size, 460};
  const double first = resident_clocks(work, resident_tiles(work, {}, 1).at(0), {});
  CHECK(first > 0);
  for (const ResidentTile& tile : valid_resident_tiles(work, {})) {
    CAPTURE(to_string(tile));
    CHECK(resident_clocks(work, tile, {}) >= first);
  }
}

TEST_CASE("tiles keep to the GPU's shared memory and clusters") {
  const Conv conv{.in_channels = 256, .out_channels = 256, .kernel = {3, 3}, .padding = {1, 1}};
  const Extents size{8, 256, 8, 8};
  const ResidentLimits small{.shared_bytes = 99 * 1024, .sms = 84, .has_clusters = false};
  const auto tiles = valid_resident_tiles({conv, size, size}, small);
  for (const ResidentTile& tile : tiles) {
    CAPTURE(to_string(tile));
    CHECK(tile.cluster == 1);
    CHECK(resident_geometry(tile, conv, size, size).shared_bytes() <= small.shared_bytes);
  }
  const Extents large{8, 4096, 8, 8};
  Conv wide = conv;
  wide.in_channels = 4096;
  CHECK(resident_tiles({wide, large, size, 100}, small, 4).empty());
}

TEST_CASE("a tile's name says how it divides the work") {
  CHECK(to_string(ResidentTile{}) ==
        "resident strip=2x8 warps=8 groups=8 split=1 cluster=1 passes=1");
  const ResidentConvForm map{
      .is_map = true, .height = 2, .width = 2, .images = 2, .warps = 16, .stride = 0};
  CHECK(to_string(ResidentTile{map, 2, 4, 8, 1}) ==
        "resident map=2x2x2 warps=16 stride=0 groups=2 split=4 cluster=8 passes=1");
}

TEST_CASE("codes of maps keep both rows and the columns to leave out") {
  const std::uint32_t code = map_code(0x3fff, 0x1234, 0b1010);
  CHECK(row_of_set(code, 0) == 0x3fff);
  CHECK(row_of_set(code, 1) == 0x1234);
  CHECK(!skips_column(code, 0));
  CHECK(skips_column(code, 1));
  CHECK(!skips_column(code, 2));
  CHECK(skips_column(code, 3));
}

// A warp of a later share finds its pixels by the distance from those of the first share.
TEST_CASE("pixels of a later share are as far from each other as those of the first") {
  const auto pixel_at = [](const ResidentConvForm& form, int u) {
    if (form.is_point()) return pixel_of_point(u);
    const PixelOfPair which = pixel_of_square(form, u / 4, u % 4);
    return pixel_of_pair(form, which.pair, which.second);
  };
  for (const ResidentConvForm& form : kResidentForms) {
    CAPTURE(form.height);
    CAPTURE(form.width);
    for (int u = 0; u < form.pixels(); ++u) {
      for (int share = 0; share <= u; ++share) {
        if ((share & u) != share) continue;
        const ResidentPixel whole = pixel_at(form, u), from = pixel_at(form, share),
                            step = pixel_at(form, u - share);
        CHECK(whole.image == from.image + step.image);
        CHECK(whole.y == from.y + step.y);
        CHECK(whole.x == from.x + step.x);
      }
    }
  }
}

}  // namespace winnow
