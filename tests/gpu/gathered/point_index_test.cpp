// Linear layers in the resident kernel, emulated.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "runtime/base/random.h"
#include "runtime/gpu/gathered/channel_places.h"
#include "runtime/gpu/gathered/resident_index.h"
#include "runtime/gpu/gathered/ring_launch.h"
#include "tests/gpu/gathered/point_layer.h"
#include "tests/gpu/gathered/resident_emulation.h"

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

class Emulated {
 public:
  Emulated(const PointCase& c, RandomValues& random)
      : layer(c, random), places_(plain_places(c.in)), out_places_(plain_places(c.out)) {
    Random order(random.below(1000));
    shuffle(places_, order);
    shuffle(out_places_, order);
  }

  std::vector<float> run(const ResidentTile& tile, bool has_addend) const {
    const std::vector<float> nothing;
    return emulate_resident({layer.conv, tile, true}, layer.packed(tile, places_, out_places_),
                            layer.bias, layer.input, places_, out_places_,
                            has_addend ? layer.added.values : nothing, layer.out());
  }

  void check(const ResidentTile& tile, RandomValues& random) const {
    CAPTURE(to_string(tile));
    const bool has_addend = random.below(2) == 0;
    CHECK(largest_error(run(tile, has_addend), layer.wanted(has_addend, true).values) < 5e-3);
  }

  PointLayer layer;

 private:
  std::vector<std::int32_t> places_, out_places_;
};

}  // namespace

TEST_CASE("linear layers of the resident kernel give the reference's output") {
  RandomValues random(71);
  for (const PointCase& c : point_cases()) {
    CAPTURE(c.batch);
    CAPTURE(c.in);
    CAPTURE(c.out);
    CAPTURE(c.vector);
    const Emulated emulated(c, random);
    const auto tiles = emulated.layer.some_tiles({}, 12, random);
    REQUIRE(!tiles.empty());
    for (const ResidentTile& tile : tiles) emulated.check(tile, random);
  }
}

TEST_CASE("linear layers of the resident kernel give the reference's output for random shapes") {
  RandomValues random(72);
  const auto between = [&](std::size_t low, std::size_t high) {
    return static_cast<std::int64_t>(low + random.below(high - low + 1));
  };
  const int vectors[] = {1, 8, 16, 32};
  const double densities[] = {0.02, 0.3, 1.0};
  for (int i = 0; i < 60; ++i) {
    const PointCase c{.batch = between(1, 130),
                      .in = between(1, 300),
                      .out = between(1, 70),
                      .vector = vectors[random.below(4)],
                      .density = densities[random.below(3)]};
    CAPTURE(i);
    const Emulated emulated(c, random);
    for (const ResidentTile& tile : emulated.layer.some_tiles({}, 2, random)) {
      emulated.check(tile, random);
    }
  }
}

TEST_CASE("only linear layers have tiles for points") {
  const Extents one{40, 64, 1, 1}, two{40, 64, 2, 2};
  const Conv point{.in_channels = 64, .out_channels = 64};
  Conv padded = point;
  padded.padding = {1, 1};
  CHECK(is_point(point, one));
  CHECK(!is_point(point, two));
  CHECK(!is_point(padded, one));
  const auto points = [](const Conv& conv, const Extents& size) {
    const auto tiles =
        valid_resident_tiles({.conv = conv, .in = size, .out = conv_output(conv, size)}, {});
    return std::ranges::count_if(tiles, [](const ResidentTile& t) { return t.form.is_point(); });
  };
  CHECK(points(point, one) > 0);
  CHECK(points(point, two) == 0);
  CHECK(points(padded, one) == 0);
}

TEST_CASE("every image of a point's warp is one of a pair") {
  for (int u = 0; u < 8; ++u) {
    CHECK(2 * pair_of_point(u).pair + pair_of_point(u).second == u);
    CHECK(pixel_of_point(u).image == u);
  }
}

TEST_CASE("the largest linear layer of VGG16 is given to points at every batch") {
  const Conv conv{.in_channels = 25088, .out_channels = 4096};
  for (const std::int64_t batch : {1, 8, 32, 128}) {
    CAPTURE(batch);
    const Extents in{batch, 25088, 1, 1}, out{batch, 4096, 1, 1};
    const auto tiles =
        resident_tiles({.conv = conv, .in = in, .out = out, .kept_columns = 2509}, {}, 4);
    REQUIRE(!tiles.empty());
    CHECK(tiles[0].form.is_point());
  }
}

}  // namespace winnow
