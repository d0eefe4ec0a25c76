#include "runtime/gpu/stem/stem_conv.h"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/gpu/gathered/channel_places.h"
#include "runtime/gpu/gathered/ring_launch.h"
#include "runtime/model/preprocessing.h"
#include "tests/gpu/conv_cases.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/random_values.h"
#include "tests/throws.h"

namespace winnow {
namespace {

constexpr ActivationFormat kPlaced{
    .layout = Layout::nchw32c8n, .precision = Precision::f16, .order = 2};
constexpr ActivationFormat kNhwc{.layout = Layout::nhwc, .precision = Precision::f16};

ActivationFormat padded_nhwc(std::int64_t channels) {
  ActivationFormat format = kNhwc;
  format.channel_padding = static_cast<int>(-channels & 7);
  return format;
}

// A network's input as bytes in device memory, between bytes that would be wrong, and as the floats
// that they stand for.
struct Pictures {
  DeviceBuffer<std::uint8_t> guarded;
  const std::uint8_t* bytes = nullptr;
  std::vector<float> values;     // of all bytes, [C, 256]
  reference::Array input;        // exact
  reference::Array half_values;  // rounded, as kernels compute
};

constexpr std::size_t kGuard = 64;

Pictures random_pictures(const Shape& shape, RandomValues& random) {
  Pictures pictures;
  Preprocessing preprocessing;
  for (std::int64_t c = 0; c < shape[1]; ++c) {
    preprocessing.mean.push_back(0.4f + 0.01f * static_cast<float>(c));
    preprocessing.deviation.push_back(0.25f + 0.02f * static_cast<float>(c));
  }
  pictures.values = input_values(preprocessing, shape[1]);
  pictures.input.shape = pictures.half_values.shape = shape;
  const std::int64_t plane = shape[2] * shape[3];
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(element_count(shape)) + 2 * kGuard, 255);
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    const auto byte = static_cast<std::uint8_t>(random.below(256));
    bytes[kGuard + static_cast<std::size_t>(i)] = byte;
    const std::int64_t channel = i / plane % shape[1];
    const float value = pictures.values[static_cast<std::size_t>(channel * 256 + byte)];
    pictures.input.values.push_back(value);
    pictures.half_values.values.push_back(to_float(to_half(value)));
  }
  pictures.guarded = upload(bytes);
  pictures.bytes = pictures.guarded.get() + kGuard;
  return pictures;
}

struct Weights {
  std::vector<float> weight, bias;
};

Weights random_weights(const Conv& conv, RandomValues& random) {
  const std::int64_t cols = conv.in_channels / conv.groups * conv.kernel[0] * conv.kernel[1];
  return {to_dense(random.weight(conv.out_channels, cols, 1, 0.7)),
          random.reals(static_cast<std::size_t>(conv.out_channels))};
}

StemLayer layer_of(const StemProblem& problem, const Weights& w,
                   const std::vector<std::int32_t>& places, const std::vector<float>& values) {
  return upload_stem_layer(pack_for_stem(problem.conv, problem.output, w.weight, w.bias, places),
                           values, problem);
}

void check_case(const ConvCase& c, std::size_t most_tiles, RandomValues& random) {
  const Conv& conv = c.conv;
  const Weights w = random_weights(conv, random);
  const Shape shape{c.batch, conv.in_channels, c.height, c.width};
  const reference::Array input = random.array(shape);
  const Pictures pictures = random_pictures(shape, random);
  const bool has_relu = random.below(2) == 0;
  const auto expected = expected_conv(conv, input, w.weight, w.bias, has_relu);
  const auto of_pictures = expected_conv(conv, pictures.half_values, w.weight, w.bias, has_relu);
  const DeviceTensor in(row_major(Precision::f32), input);
  const DeviceTensor normalised(row_major(Precision::f32), pictures.input);
  const std::vector<StemTile> tiles = best_stem_tiles(
      {conv, extents_of(shape), extents_of(expected.shape), 132, 227 * 1024}, most_tiles);
  REQUIRE(!tiles.empty());
  for (const StemTile& tile : tiles) {
    for (const ActivationFormat& format : {kPlaced, kNhwc, padded_nhwc(conv.out_channels)}) {
      const bool is_nhwc = format.layout == Layout::nhwc;
      const StemProblem problem{conv, has_relu, tile,
                                is_nhwc ? StemOutput::channels : StemOutput::images};
      const StemLayer layer =
          layer_of(problem, w, places_in_order(format.order, conv.out_channels), pictures.values);
      const DeviceTensor out(format, expected.shape);
      const DeviceTensor of_floats(format, expected.shape), of_bytes(format, expected.shape);
      stem_conv(layer, in.view(), out.view(), nullptr);
      stem_conv(layer, normalised.view(), of_floats.view(), nullptr);
      stem_conv_on_bytes(layer, pictures.bytes, extents_of(shape), of_bytes.view(), nullptr);
      CAPTURE(to_string(tile));
      CAPTURE(to_string(format));
      CAPTURE(c.batch);
      CAPTURE(c.height);
      CAPTURE(conv.in_channels);
      CAPTURE(conv.out_channels);
      CAPTURE(conv.kernel[1]);
      CHECK(relative_error(out.values(), expected.values) <= tolerance(Precision::f16));
      CHECK(relative_error(of_bytes.values(), of_pictures.values) <= tolerance(Precision::f16));
      CHECK(of_bytes.values() == of_floats.values());
      CHECK(out.is_frame_untouched());
      CHECK(of_bytes.is_frame_untouched());
    }
  }
}

}  // namespace

TEST_CASE("stem_conv equals the reference, on floats and on bytes") {
  if (lacks_gpu()) return;
  RandomValues random(92);
  std::vector<ConvCase> cases = conv_cases();
  cases.push_back({9, 33, 70, square_conv(3, 64, 3, 1, 1)});
  cases.push_back({17, 40, 39, square_conv(3, 64, 7, 2, 3)});
  cases.push_back({3, 28, 28, square_conv(1, 6, 5, 1, 2)});
  cases.push_back({1, 61, 59, square_conv(2, 96, 11, 4, 2)});
  cases.push_back({2, 9, 300, square_conv(3, 130, 3, 1, 1)});
  cases.push_back({3, 224, 224, square_conv(3, 40, 3, 1, 1)});
  cases.push_back({130, 5, 5, square_conv(4, 40, 3, 1, 4)});
  int checked = 0;
  for (const ConvCase& c : cases) {
    if (stem_taps(c.conv) > kMostStemTaps) continue;
    check_case(c, c.height > 100 ? 2 : 11, random);
    ++checked;
  }
  CHECK(checked > 15);
}

// They become infinite, and not a number where a tap that fills a batch up has the weight 0.
TEST_CASE("stem_conv gives nothing finite for inputs beyond the largest half float") {
  if (lacks_gpu()) return;
  const Conv conv = square_conv(1, 8, 1, 1, 0);
  const std::vector<float> weight(8, 1.0f), bias(8, 0.0f);
  reference::Array input{{1, 1, 1, 2}, {1e6f, -2.0f}};
  const StemProblem problem{conv, true, {1, 8}, StemOutput::channels};
  const StemLayer layer = layer_of(problem, {weight, bias}, plain_places(8), {});
  const DeviceTensor in(row_major(Precision::f32), input), out(kNhwc, Shape{1, 8, 1, 2});
  stem_conv(layer, in.view(), out.view(), nullptr);
  const std::vector<float> values = out.values();
  CHECK_FALSE(std::isfinite(values[0]));
  CHECK(values[1] == 0);
}

TEST_CASE("stem_conv refuses tensors that do not fit") {
  if (lacks_gpu()) return;
  RandomValues random(93);
  const Conv conv = square_conv(3, 32, 3, 1, 1);
  const Weights w = random_weights(conv, random);
  const StemLayer layer = layer_of({conv, false, {8, 8}, StemOutput::channels}, w, plain_places(32),
                                   input_values({}, 3));
  const StemLayer without =
      layer_of({conv, false, {8, 8}, StemOutput::channels}, w, plain_places(32), {});
  const DeviceTensor in(row_major(Precision::f32), Shape{2, 3, 6, 6});
  const DeviceTensor half(row_major(Precision::f16), Shape{2, 3, 6, 6});
  const DeviceTensor other(row_major(Precision::f32), Shape{2, 4, 6, 6});
  const DeviceTensor out(kNhwc, Shape{2, 32, 6, 6}), small(kNhwc, Shape{2, 32, 6, 5});
  const DeviceTensor placed(kPlaced, Shape{2, 32, 6, 6});
  const auto refusal = [&](const DeviceTensor& from, const DeviceTensor& to) {
    return message_of([&] { stem_conv(layer, from.view(), to.view(), nullptr); });
  };
  CHECK(refusal(in, out) == "");
  CHECK(refusal(half, out) == "stem_conv: the input is not row-major fp32");
  CHECK(refusal(other, out) == "stem_conv: the input has other channels");
  CHECK(refusal(in, small) == "stem_conv: the output has another size");
  CHECK(refusal(in, placed) == "stem_conv: the output is of another format");
  CHECK(error_of([&] { stem_conv(layer, in.view(), small.view(), nullptr); }) == ErrorCode::usage);
  const DeviceBuffer<std::uint8_t> bytes(2 * 3 * 6 * 6);
  const auto on_bytes = [&](const StemLayer& of) {
    stem_conv_on_bytes(of, bytes.get(), {2, 3, 6, 6}, out.view(), nullptr);
  };
  CHECK_FALSE(error_of([&] { on_bytes(layer); }).has_value());
  CHECK(message_of([&] { on_bytes(without); }) ==
        "stem_conv: the layer was made without values of bytes");
}

}  // namespace winnow
