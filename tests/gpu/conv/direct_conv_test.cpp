#include "runtime/gpu/conv/direct_conv.h"

#include <doctest/doctest.h>

#include "runtime/device/overlapping_launch.h"
#include "tests/gpu/conv_cases.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/random_values.h"
#include "tests/throws.h"

namespace winnow {
namespace {

// Every tile of one layer against the reference.
void check_layer(const ConvCase& c, int vector, double density, Pads pads,
                 const ActivationFormat& base, RandomValues& random) {
  const Conv& conv = c.conv;
  const std::int64_t cols = conv.in_channels / conv.groups * conv.kernel[0] * conv.kernel[1];
  const CsrWeight weight = random.weight(conv.out_channels, cols, vector, density);
  const std::vector<float> bias = random.reals(static_cast<std::size_t>(conv.out_channels));
  const reference::Array input = random.array({c.batch, conv.in_channels, c.height, c.width});
  const bool has_relu = random.below(2) == 0;
  const reference::Array expected = expected_conv(conv, input, to_dense(weight), bias, has_relu);

  ActivationFormat in_format = base;
  in_format.halo_h = static_cast<int>(conv.padding[0] + static_cast<std::int64_t>(random.below(2)));
  in_format.halo_w = static_cast<int>(conv.padding[1] + static_cast<std::int64_t>(random.below(2)));
  ActivationFormat out_format = base;
  out_format.halo_h = static_cast<int>(random.below(3));
  out_format.halo_w = static_cast<int>(random.below(3));
  const DeviceTensor in(in_format, input);
  const DirectRows rows = direct_rows(block_csr(weight, pads), conv.groups);
  const ActivationStrides strides = strides_of(in_format, extents_of(input.shape));
  const DirectWork work{.out = extents_of(expected.shape),
                        .rows = rows.rows,
                        .vector = rows.vector,
                        .layout = base.layout,
                        .sms = 4};
  for (const int sub_batch : {1, 2, 4, 8}) {
    for (DirectTile tile : direct_tiles(work, sub_batch)) {
      tile.shares = has_clusters() ? 1 << random.below(4) : 1;
      if (!is_valid(tile, base.layout, rows.vector)) tile.shares = 1;
      const DirectWeights uploaded =
          upload_direct_weights(rows, bias, conv, strides, tile.channels);
      const DeviceTensor out(out_format, expected.shape);
      direct_conv({conv, has_relu, tile}, uploaded, in.view(), out.view(), nullptr);
      CAPTURE(to_string(tile));
      CAPTURE(to_string(in_format));
      CAPTURE(c.batch);
      CAPTURE(c.height);
      CAPTURE(c.width);
      CAPTURE(conv.kernel[1]);
      CAPTURE(vector);
      CAPTURE(density);
      CHECK(relative_error(out.values(), expected.values) <= tolerance(base.precision));
      CHECK(out.is_frame_untouched());
    }
  }
}

void check_all(const ActivationFormat& format, std::uint64_t seed) {
  RandomValues random(seed);
  for (const ConvCase& c : conv_cases()) {
    for (const int vector : {1, 8, 16, 32}) {
      check_layer(c, vector, 0.3, Pads::drop, format, random);
      check_layer(c, vector, 0.3, Pads::keep, format, random);
    }
  }
  for (const double density : {0.0, 0.02, 1.0}) {
    check_layer(conv_cases()[1], 1, density, Pads::drop, format, random);
    check_layer(conv_cases()[3], 16, density, Pads::drop, format, random);
  }
}

}  // namespace

TEST_CASE("direct_conv equals the reference in nchw f32") {
  if (lacks_gpu()) return;
  check_all({.layout = Layout::nchw, .precision = Precision::f32}, 1);
}

TEST_CASE("direct_conv equals the reference in nchw f16") {
  if (lacks_gpu()) return;
  check_all({.layout = Layout::nchw, .precision = Precision::f16}, 2);
}

TEST_CASE("direct_conv equals the reference in chwn8 f32") {
  if (lacks_gpu()) return;
  check_all({.layout = Layout::chwn8, .precision = Precision::f32}, 3);
}

TEST_CASE("direct_conv equals the reference in chwn8 f16") {
  if (lacks_gpu()) return;
  check_all({.layout = Layout::chwn8, .precision = Precision::f16}, 4);
}

TEST_CASE("direct_conv walks rows of several chunks") {
  if (lacks_gpu()) return;
  RandomValues random(5);
  // 150 x 9 = 1350 columns: three chunks of 512 blocks, eleven of 128, twenty-two of 64.
  const ConvCase deep{
      2, 5, 5, {.in_channels = 150, .out_channels = 16, .kernel = {3, 3}, .padding = {1, 1}}};
  for (const int vector : {1, 8, 16}) {
    check_layer(deep, vector, 1.0, Pads::drop, {.precision = Precision::f32}, random);
    check_layer(deep, vector, 0.5, Pads::drop,
                {.layout = Layout::chwn8, .precision = Precision::f16}, random);
  }
}

TEST_CASE("direct_conv gives equal bits for equal inputs") {
  if (lacks_gpu()) return;
  RandomValues random(6);
  const Conv conv{.in_channels = 32, .out_channels = 16, .kernel = {3, 3}, .padding = {1, 1}};
  const CsrWeight weight = random.weight(16, 288, 1, 0.3);
  const reference::Array input = random.array({8, 32, 6, 6});
  const ActivationFormat in_format{.halo_h = 1, .halo_w = 1};
  const DeviceTensor in(in_format, input);
  const DirectTile tile{.channels = 1,
                        .sub_batch = 2,
                        .positions = 32,
                        .slices = 8,
                        .shares = has_clusters() ? 8 : 1};
  const DirectWeights uploaded =
      upload_direct_weights(direct_rows(block_csr(weight), 1), std::vector<float>(16, 0.0f), conv,
                            strides_of(in_format, extents_of(input.shape)), 1);
  std::vector<std::vector<float>> runs;
  for (int run = 0; run < 3; ++run) {
    const DeviceTensor out(ActivationFormat{}, {8, 16, 6, 6});
    direct_conv({conv, false, tile}, uploaded, in.view(), out.view(), nullptr);
    runs.push_back(out.values());
  }
  CHECK(runs[0] == runs[1]);
  CHECK(runs[0] == runs[2]);
}

TEST_CASE("direct_conv refuses what does not fit") {
  if (lacks_gpu()) return;
  RandomValues random(7);
  const Conv conv{.in_channels = 4, .out_channels = 8, .kernel = {3, 3}, .padding = {1, 1}};
  const CsrWeight weight = random.weight(8, 36, 1, 0.5);
  const ActivationFormat framed{.halo_h = 1, .halo_w = 1};
  const DeviceTensor in(framed, random.array({2, 4, 6, 6}));
  const DeviceTensor bare(ActivationFormat{}, random.array({2, 4, 6, 6}));
  const DeviceTensor out(ActivationFormat{}, {2, 8, 6, 6});
  const DeviceTensor small(ActivationFormat{}, {2, 8, 4, 4});
  const DirectWeights uploaded =
      upload_direct_weights(direct_rows(block_csr(weight), 1), std::vector<float>(8, 0.0f), conv,
                            strides_of(framed, {2, 4, 6, 6}), 1);
  const DirectLayer layer{conv, false, {}};
  DirectLayer odd = layer;
  odd.tile.sub_batch = 3;
  const auto refusal = [&](const DirectLayer& l, const DeviceTensor& x, const DeviceTensor& y) {
    return error_of([&] { direct_conv(l, uploaded, x.view(), y.view(), nullptr); });
  };
  CHECK(refusal(layer, bare, out) == ErrorCode::usage);  // no halo for the padding
  CHECK(refusal(layer, in, small) == ErrorCode::usage);
  CHECK(refusal(odd, in, out) == ErrorCode::usage);
  CHECK_FALSE(refusal(layer, in, out).has_value());
}

}  // namespace winnow
