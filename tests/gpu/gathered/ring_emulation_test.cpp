// The kernel's plan, packing and index arithmetic on the host, against the reference.
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/base/random.h"
#include "runtime/gpu/gathered/channel_places.h"
#include "runtime/gpu/gathered/ring_choice.h"
#include "runtime/gpu/gathered/ring_index.h"
#include "runtime/reference/operations.h"
#include "tests/gpu/conv_cases.h"
#include "tests/gpu/gathered/ring_emulator.h"
#include "tests/gpu/random_values.h"

namespace winnow {
namespace {

constexpr std::int64_t kShared = 227 * 1024;

// [N, C, H, W] as nchw32c8n with channels at `place`; NaN in channels beyond the last.
std::vector<float> gathered(const reference::Array& values,
                            const std::vector<std::int32_t>& place) {
  const Extents s = extents_of(values.shape);
  const std::int64_t blocks = (s.c + 31) / 32, images = (s.n + 7) / 8, pixels = s.h * s.w;
  std::vector<float> result(static_cast<std::size_t>(images * blocks * pixels * 256),
                            std::nanf(""));
  for (std::int64_t i = 0; i < images * 8 * s.c * pixels; ++i) {
    const std::int64_t pixel = i % pixels, c = i / pixels % s.c, n = i / pixels / s.c;
    const std::int64_t p = place[static_cast<std::size_t>(c)];
    const std::int64_t to =
        (((n / 8) * blocks + p / 32) * pixels + pixel) * 256 + p % 32 * 8 + n % 8;
    result[static_cast<std::size_t>(to)] =
        n < s.n ? values.values[static_cast<std::size_t>(i)] : 3.0f;
  }
  return result;
}

std::vector<std::int32_t> shuffled(std::int64_t channels, std::uint64_t seed) {
  std::vector<std::int32_t> places = plain_places(channels);
  Random random(seed);
  shuffle(places, random);
  return places;
}

struct Setting {
  int vector = 16;
  double density = 0.3;
  RingPool pool = RingPool::none;
  bool has_relu = false;
  bool is_sum = false;
};

reference::Array expected_of(const Conv& conv, const Setting& s, const reference::Array& input,
                             const CsrWeight& weight, const std::vector<float>& bias,
                             const reference::Array* addend) {
  Conv two = conv;
  two.rank = 2;  // 1D convolutions run as one row
  reference::Array result = reference::conv(two, input, to_dense(weight), bias);
  if (addend != nullptr) {
    for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] += addend->values[i];
  }
  if (s.has_relu) result = reference::relu(result);
  if (s.pool == RingPool::none) return result;
  const PoolKind kind = s.pool == RingPool::max ? PoolKind::max : PoolKind::average;
  return reference::pool(Pool{.kind = kind}, result);
}

// Runs the tiles of a layer, but no more than `most`.
void check_layer(const ConvCase& c, const Setting& s, std::size_t most, RandomValues& random) {
  const Conv& conv = c.conv;
  const std::int64_t cols = conv.in_channels / conv.groups * conv.kernel[0] * conv.kernel[1];
  const CsrWeight weight = random.weight(conv.out_channels, cols, s.vector, s.density);
  const std::vector<float> bias = random.reals(static_cast<std::size_t>(conv.out_channels));
  const reference::Array input = random.array({c.batch, conv.in_channels, c.height, c.width});
  const Extents in = extents_of(input.shape), conv_out = conv_output(conv, in);
  const reference::Array addend = random.array({conv_out.n, conv_out.c, conv_out.h, conv_out.w});
  const reference::Array expected =
      expected_of(conv, s, input, weight, bias, s.is_sum ? &addend : nullptr);

  const GatheredGroups groups = gathered_groups(block_csr(weight), conv);
  const auto in_place = shuffled(conv.in_channels, 1), out_place = shuffled(conv.out_channels, 2);
  const RingWork work{.conv = conv,
                      .pool = s.pool,
                      .adds = s.is_sum,
                      .in = in,
                      .groups = groups.weight.rows(),
                      .columns = 30,
                      .sms = 7,
                      .most_shared_bytes = kShared};
  const std::vector<float> in_rows = gathered(input, in_place);
  const std::vector<float> addend_rows = gathered(addend, out_place);
  const std::vector<float> expected_rows = gathered(expected, out_place);
  std::vector<RingTile> tiles = all_ring_tiles(work);
  REQUIRE(!tiles.empty());
  while (tiles.size() > most)
    tiles.erase(tiles.begin() + static_cast<std::ptrdiff_t>(random.below(tiles.size())));
  for (const RingTile& tile : tiles) {
    const RingProblem problem{conv, tile, s.has_relu, s.pool, s.is_sum};
    const RingWeights weights = pack_for_ring(groups, conv, tile, in_place, out_place, s.is_sum);
    EmulatedLaunch launch{.problem = problem, .weights = &weights, .bias = {}, .in_size = in};
    for (const std::int32_t channel : weights.channel) {
      launch.bias.push_back(channel < 0 ? 0.0f : bias[static_cast<std::size_t>(channel)]);
    }
    launch.in = &in_rows;
    launch.addend = s.is_sum ? &addend_rows : nullptr;
    launch.sms = work.sms;
    std::string failure;
    const std::vector<float> found = emulate(launch, failure);
    CAPTURE(to_string(tile));
    CAPTURE(c.height);
    CAPTURE(conv.in_channels);
    CAPTURE(conv.kernel[1]);
    CAPTURE(s.vector);
    CAPTURE(s.density);
    CHECK(failure.empty());
    CAPTURE(failure);
    REQUIRE(found.size() == expected_rows.size());
    double worst = 0;
    bool has_all = true;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::int64_t lane = static_cast<std::int64_t>(i % 8);
      const std::int64_t octet =
          static_cast<std::int64_t>(i) /
          static_cast<std::int64_t>(found.size() / static_cast<std::size_t>((in.n + 7) / 8));
      if (octet * 8 + lane >= in.n) continue;
      if (std::isnan(expected_rows[i])) {
        has_all = has_all && std::isnan(found[i]);  // channels beyond the last
      } else {
        const double error = std::abs(double{found[i]} - double{expected_rows[i]});
        worst = std::isnan(error) ? 1e9 : std::max(worst, error);
      }
    }
    CHECK(has_all);
    CHECK(worst < 2e-3);
  }
}

}  // namespace

TEST_CASE("the ring kernel's arithmetic gives the reference's results with every tile") {
  RandomValues random(81);
  for (const ConvCase& c : conv_cases()) {
    check_layer(c, {.vector = 16, .has_relu = true}, 8, random);
    check_layer(c, {.vector = 1, .density = 0.05, .is_sum = true}, 3, random);
    check_layer(c, {.vector = 16, .density = 0.2, .is_sum = true}, 3, random);
  }
  for (const int vector : {8, 32}) check_layer(conv_cases()[15], {.vector = vector}, 4, random);
  for (const double density : {0.0, 0.02, 1.0}) {
    check_layer(conv_cases()[14], {.density = density}, 6, random);
    check_layer(conv_cases()[17], {.density = density}, 6, random);
  }
}

TEST_CASE("thread blocks go to the parts of the output channels by their work") {
  const Conv conv = square_conv(64, 64, 3, 1, 1);
  RandomValues random(83);
  const std::vector<std::int64_t> lengths = {576, 58, 58, 576};
  const GatheredGroups groups = gathered_groups(block_csr(random.weight(lengths, 576, 16)), conv);
  const RingTile tile = {.groups = 2, .stages = 2};
  const RingWeights packed =
      pack_for_ring(groups, conv, tile, plain_places(64), plain_places(64), false);
  CHECK(packed.channel[0] == 0);
  CHECK(packed.channel[16] == 48);  // beside the group that is as long
  const Extents in = {8, 64, 56, 56};
  const RingArguments a = ring_arguments({.conv = conv, .tile = tile}, packed, in, 20);
  CHECK(a.parts == 2);
  CHECK(thread_blocks(a) == 20);
  CHECK(a.part_begin[1] >= 13);
  CHECK(a.part_begin[1] <= 18);
  CHECK(part_of(a, a.part_begin[1] - 1) == 0);
  CHECK(part_of(a, a.part_begin[1]) == 1);
  const RingArguments few = ring_arguments({.conv = conv, .tile = tile}, packed, in, 1);
  CHECK(thread_blocks(few) == 2);
  const Extents small = {8, 64, 4, 7};
  CHECK(thread_blocks(ring_arguments({.conv = conv, .tile = tile}, packed, small, 20)) == 2);
}

TEST_CASE("the ring kernel's arithmetic pools windows of 2 x 2 outputs") {
  RandomValues random(82);
  const std::vector<ConvCase> cases = {{9, 8, 8, square_conv(40, 33, 3, 1, 1)},
                                       {3, 15, 17, square_conv(8, 16, 3, 1, 1)},
                                       {2, 14, 14, square_conv(16, 20, 1, 1, 0)},
                                       {2, 9, 31, square_conv(3, 48, 5, 2, 2)}};
  for (const ConvCase& c : cases) {
    for (const RingPool pool : {RingPool::max, RingPool::average}) {
      check_layer(c, {.pool = pool, .has_relu = true}, 6, random);
      check_layer(c, {.vector = 8, .pool = pool}, 3, random);
    }
  }
}

}  // namespace winnow
