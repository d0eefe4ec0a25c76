#include "runtime/gpu/gathered/ring_conv.h"

#include <doctest/doctest.h>

#include <numeric>

#include "tests/gpu/device_tensor.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/random_values.h"

namespace winnow {
namespace {

struct Case {
  std::int64_t batch, height, width;
  Conv conv;
};

std::vector<Case> cases() {
  const auto square = [](std::int64_t k, std::int64_t s, std::int64_t p, std::int64_t d) {
    return Conv{.kernel = {k, k}, .stride = {s, s}, .padding = {p, p}, .dilation = {d, d}};
  };
  const auto with = [](Conv conv, std::int64_t in, std::int64_t out, std::int64_t groups) {
    conv.in_channels = in;
    conv.out_channels = out;
    conv.groups = groups;
    return conv;
  };
  return {
      {1, 1, 1, with(square(1, 1, 0, 1), 5, 7, 1)},
      {8, 14, 14, with(square(3, 1, 1, 1), 64, 64, 1)},
      {130, 7, 7, with(square(3, 1, 1, 1), 33, 16, 1)},
      {9, 13, 15, with(square(3, 2, 1, 1), 96, 200, 1)},
      {16, 12, 12, with(square(3, 1, 2, 2), 40, 48, 1)},
      {5, 8, 8, with(square(1, 1, 0, 1), 300, 80, 1)},
      {5, 8, 8, with(square(1, 2, 0, 1), 64, 32, 1)},
      {4, 6, 6, with(square(3, 1, 1, 1), 48, 48, 3)},
      {4, 6, 6, with(square(3, 1, 1, 1), 9, 9, 9)},
      {7,
       1,
       33,
       {.rank = 1, .in_channels = 50, .out_channels = 19, .kernel = {1, 3}, .padding = {0, 1}}},
  };
}

void check_layer(const Case& c, int vector, double density, RandomValues& random) {
  const Conv& conv = c.conv;
  const std::int64_t cols = conv.in_channels / conv.groups * conv.kernel[0] * conv.kernel[1];
  const CsrWeight weight = random.weight(conv.out_channels, cols, vector, density);
  const std::vector<float> bias = random.reals(static_cast<std::size_t>(conv.out_channels));
  const reference::Array input = random.array({c.batch, conv.in_channels, c.height, c.width});
  const bool has_relu = random.below(2) == 0;
  Conv two = conv;
  two.rank = 2;  // 1D convolutions run as one row
  reference::Array expected = reference::conv(two, input, to_dense(weight), bias);
  if (has_relu) expected = reference::relu(expected);

  const GatheredGroups groups = gathered_groups(block_csr(weight), conv);
  std::vector<std::int32_t> place(static_cast<std::size_t>(conv.in_channels));
  std::iota(place.begin(), place.end(), 0);
  const ActivationFormat format{.layout = Layout::nchw32c8n, .precision = Precision::f16};
  const DeviceTensor in(format, input);
  const std::vector<RingTile> tiles = ring_tiles(conv, 227 * 1024);
  CHECK(!tiles.empty());
  for (const RingTile& tile : tiles) {
    const RingWeights weights = pack_for_ring(groups, conv, tile, place);
    const RingLayer layer = upload_ring_layer(weights, bias, conv, tile, has_relu);
    const DeviceTensor out(format, expected.shape);
    ring_conv(layer, in.view(), out.view(), 7, nullptr);
    CAPTURE(to_string(tile));
    CAPTURE(c.batch);
    CAPTURE(c.height);
    CAPTURE(conv.in_channels);
    CAPTURE(conv.kernel[1]);
    CAPTURE(vector);
    CAPTURE(density);
    CHECK(relative_error(out.values(), expected.values) <= tolerance(Precision::f16));
    CHECK(out.is_frame_untouched());
  }
}

}  // namespace

TEST_CASE("ring_conv equals the reference") {
  if (lacks_gpu()) return;
  RandomValues random(31);
  for (const Case& c : cases()) {
    for (const int vector : {1, 8, 16, 32}) check_layer(c, vector, 0.3, random);
  }
  for (const double density : {0.0, 0.02, 1.0}) check_layer(cases()[3], 16, density, random);
}

}  // namespace winnow
