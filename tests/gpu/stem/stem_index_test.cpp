// Indices, weights and tiles of the stem convolution: no GPU needed.
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/gpu/gathered/channel_places.h"
#include "runtime/gpu/gathered/ring_launch.h"
#include "runtime/gpu/stem/stem_index.h"
#include "tests/gpu/conv_cases.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/random_values.h"
#include "tests/gpu/stem/stem_emulator.h"

namespace winnow {
namespace {

constexpr std::int64_t kShared = 227 * 1024;

std::vector<std::int32_t> turned_places(std::int64_t channels) {
  std::vector<std::int32_t> places = plain_places(channels);
  std::ranges::reverse(places);
  return places;
}

void check_case(const ConvCase& c, const StemTile& tile, RandomValues& random) {
  const Conv& conv = c.conv;
  const std::int64_t cols = conv.in_channels / conv.groups * conv.kernel[0] * conv.kernel[1];
  const std::vector<float> weight =
      to_dense(random.weight(conv.out_channels, cols, 1, random.below(2) == 0 ? 1.0 : 0.3));
  const std::vector<float> bias = random.reals(static_cast<std::size_t>(conv.out_channels));
  const reference::Array input = random.array({c.batch, conv.in_channels, c.height, c.width});
  const bool has_relu = random.below(2) == 0;
  const reference::Array expected = expected_conv(conv, input, weight, bias, has_relu);
  for (const StemOutput output : {StemOutput::images, StemOutput::channels}) {
    const auto place = output == StemOutput::images ? turned_places(conv.out_channels)
                                                    : plain_places(conv.out_channels);
    const StemWeights packed = pack_for_stem(conv, output, weight, bias, place);
    const StemProblem problem{conv, has_relu, tile, output};
    CAPTURE(to_string(tile));
    CAPTURE(c.batch);
    CAPTURE(c.width);
    CAPTURE(conv.in_channels);
    CAPTURE(conv.kernel[1]);
    CAPTURE(static_cast<int>(output));
    const std::vector<float> found =
        emulate_stem(problem, packed, input, extents_of(expected.shape), place);
    CHECK(relative_error(found, expected.values) <= tolerance(Precision::f16));
  }
}

}  // namespace

TEST_CASE("the stem convolution's indices and weights give the reference") {
  RandomValues random(91);
  const StemTile tiles[] = {{8, 32}, {2, 16}, {1, 8}};
  for (const ConvCase& c : conv_cases()) {
    if (stem_taps(c.conv) > kMostStemTaps || c.batch > 20) continue;
    check_case(c, tiles[random.below(3)], random);
  }
  check_case({9, 9, 10, square_conv(3, 40, 3, 1, 1)}, {4, 32}, random);
  check_case({2, 23, 21, square_conv(3, 64, 7, 2, 3)}, {4, 16}, random);
  check_case({1, 6, 5, square_conv(1, 300, 5, 1, 0)}, {1, 8}, random);
}

TEST_CASE("offsets of taps are rows of channel, row and column") {
  const Conv conv = square_conv(2, 8, 2, 1, 0, 3);
  const StemBox box{9, 12, 13, 120};
  const std::vector<std::uint32_t> offsets = stem_offsets(conv, box);
  REQUIRE(offsets.size() == 32);
  const std::vector<std::uint32_t> rows = {0, 3, 39, 42, 120, 123, 159, 162};
  for (std::size_t t = 0; t < offsets.size(); ++t) {
    CHECK(offsets[t] == 16 * rows[std::min<std::size_t>(t, 7)]);
  }
}

TEST_CASE("pitches of the box keep taps that are read together in different banks") {
  // Classes of eight rows: 0 twice, the others once, and then one row eight times.
  std::vector<std::uint32_t> offsets = {0, 128, 16, 32, 48, 64, 80, 96};
  CHECK(stem_conflicts(offsets) == 1);
  offsets.insert(offsets.end(), 8, 128);
  CHECK(stem_conflicts(offsets) == 1);
  for (const Conv& conv : {square_conv(3, 64, 3, 1, 1), square_conv(3, 64, 7, 2, 3),
                           square_conv(1, 6, 5, 1, 0), square_conv(3, 64, 11, 4, 2)}) {
    const StemTile tile{8, 32};
    const StemBox box = stem_box(conv, tile);
    CHECK(box.height == 7 * conv.stride[0] + conv.kernel[0]);
    CHECK(box.width == 31 * conv.stride[1] + conv.kernel[1]);
    CHECK(box.row_pitch >= box.width);
    CHECK(box.plane_pitch >= box.height * box.row_pitch);
    CHECK(stem_conflicts(stem_offsets(conv, box)) == 0);
    CHECK(stem_shared_bytes(conv, box) == 16 * conv.in_channels * box.plane_pitch);
  }
}

TEST_CASE("tiles are as large as batch, map and shared memory allow") {
  const auto tiles = [](const Conv& conv, std::int64_t batch, std::int64_t side,
                        std::int64_t shared) {
    const Extents in{batch, conv.in_channels, side, side};
    return best_stem_tiles({conv, in, conv_output(conv, in), 132, shared}, 3);
  };
  const Conv conv = square_conv(3, 64, 3, 1, 1);
  const std::vector<StemTile> large = tiles(conv, 128, 224, kShared);
  const std::vector<StemTile> small = tiles(conv, 1, 32, kShared);
  REQUIRE(large.size() == 3);
  REQUIRE(small.size() == 3);
  CHECK(large[0].height * large[0].width >= 128);
  CHECK(small[0].height * small[0].width <= 32);
  const std::int64_t few = 20'000;
  for (const StemTile& tile : tiles(square_conv(3, 64, 7, 2, 3), 128, 224, few)) {
    CHECK(stem_shared_bytes(square_conv(3, 64, 7, 2, 3),
                            stem_box(square_conv(3, 64, 7, 2, 3), tile)) <= few);
  }
  CHECK(tiles(square_conv(5, 8, 7, 1, 3, 200), 1, 4000, few).empty());
}

TEST_CASE("few units are shared by several warps, each with chunks of its own") {
  const StemShare all = stem_share(64, 5);
  CHECK((all.unit == 5 && all.unit_step == 8 && all.chunk == 0 && all.chunk_step == 1));
  const StemShare some = stem_share(2, 5);
  CHECK((some.unit == 1 && some.unit_step == 2 && some.chunk == 2 && some.chunk_step == 4));
}

}  // namespace winnow
