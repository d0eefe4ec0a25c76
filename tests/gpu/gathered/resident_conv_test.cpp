#include "runtime/gpu/gathered/resident_conv.h"

#include <doctest/doctest.h>

#include "runtime/device/stream.h"
#include "runtime/gpu/gathered/channel_places.h"
#include "tests/gpu/conv_cases.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/gpu_case.h"
#include "tests/gpu/random_values.h"
#include "tests/throws.h"

namespace winnow {
namespace {

constexpr ActivationFormat kFormat{.layout = Layout::nchw32c8n, .precision = Precision::f16};
constexpr ActivationFormat kIn{
    .layout = Layout::nchw32c8n, .precision = Precision::f16, .order = 1};
constexpr ActivationFormat kOut{
    .layout = Layout::nchw32c8n, .precision = Precision::f16, .order = 2};

// A layer with its input, and what the reference makes of it.
class Layer {
 public:
  Layer(const ConvCase& c, int vector, double density, RandomValues& random)
      : conv(c.conv),
        input(random.array({c.batch, conv.in_channels, c.height, c.width})),
        bias(random.reals(static_cast<std::size_t>(conv.out_channels))),
        in(kIn, input) {
    const std::int64_t cols = conv.in_channels / conv.groups * conv.kernel[0] * conv.kernel[1];
    const CsrWeight csr = random.weight(conv.out_channels, cols, vector, density);
    weight = to_dense(csr);
    expected = expected_conv(conv, input, weight, bias, false);
    groups = gathered_groups(block_csr(csr), conv);
    added = random.array(expected.shape);
  }

  Extents in_size() const { return extents_of(input.shape); }
  Extents out_size() const { return extents_of(expected.shape); }

  reference::Array wanted(const ResidentEpilogue& epilogue, bool has_addend) const {
    reference::Array result = expected;
    for (std::size_t i = 0; has_addend && i < result.values.size(); ++i) {
      result.values[i] += added.values[i];
    }
    if (epilogue.has_relu) result = reference::relu(result);
    if (epilogue.pool == RingPool::none) return result;
    const bool is_max = epilogue.pool == RingPool::max;
    return reference::pool({.kind = is_max ? PoolKind::max : PoolKind::average}, result);
  }

  // The layer with ReLU, applied to something else; values rounded as the GPU stores them.
  reference::Array next(const reference::Array& from) const {
    reference::Array result = expected_conv(conv, from, weight, bias, true);
    for (float& value : result.values) value = to_float(to_half(value));
    return result;
  }

  ResidentLayer uploaded(const ResidentTile& tile, const ResidentEpilogue& epilogue,
                         const std::vector<std::int32_t>& in_places,
                         const std::vector<std::int32_t>& out_places) const {
    const ResidentGeometry g = resident_geometry(tile, conv, in_size(), out_size());
    return upload_resident_layer(pack_for_resident(groups, conv, tile, g, in_places, out_places),
                                 bias, conv, tile, in_size(), out_size(), epilogue);
  }
  // With channels by themselves.
  ResidentLayer uploaded(const ResidentTile& tile, const ResidentEpilogue& epilogue) const {
    return uploaded(tile, epilogue, plain_places(conv.in_channels),
                    plain_places(conv.out_channels));
  }

  void check(const ResidentTile& tile, const ResidentEpilogue& epilogue, bool has_addend,
             GatheredLoads loads) const {
    const ResidentLayer layer = uploaded(tile, epilogue, places_in_order(1, conv.in_channels),
                                         places_in_order(2, conv.out_channels));
    const reference::Array result = wanted(epilogue, has_addend);
    const DeviceTensor addend(kOut, added), out(kOut, result.shape);
    const ActivationView addend_view = addend.view();
    resident_conv(layer, in.view(), has_addend ? &addend_view : nullptr, out.view(), loads,
                  nullptr);
    CAPTURE(to_string(tile));
    CAPTURE(static_cast<int>(epilogue.pool));
    CAPTURE(has_addend);
    CAPTURE(loads == GatheredLoads::in_bulk);
    CHECK(relative_error(out.values(), result.values) <= tolerance(Precision::f16));
    CHECK(out.is_frame_untouched());
  }

  // About `count` of all valid tiles; both ways to load.
  void check_tiles(std::size_t count, RandomValues& random) const {
    const std::vector<ResidentTile> tiles =
        valid_resident_tiles({conv, in_size(), out_size()}, resident_limits());
    REQUIRE(!tiles.empty());
    const std::size_t step = std::max<std::size_t>(1, tiles.size() / count);
    for (std::size_t t = random.below(step); t < tiles.size(); t += step) {
      const auto pool = static_cast<RingPool>(can_pool(tiles[t], out_size()) ? random.below(3) : 0);
      const ResidentEpilogue epilogue{.has_relu = random.below(2) == 0, .pool = pool};
      check(tiles[t], epilogue, random.below(2) == 0, best_gathered_loads());
      check(tiles[t], epilogue, random.below(2) == 0, GatheredLoads::by_threads);
    }
  }

  Conv conv;
  reference::Array input, expected, added;
  std::vector<float> bias, weight;
  GatheredGroups groups;
  DeviceTensor in;
};

}  // namespace

TEST_CASE("resident_conv equals the reference") {
  if (lacks_gpu()) return;
  RandomValues random(51);
  for (const ConvCase& c : conv_cases()) {
    CAPTURE(c.batch);
    CAPTURE(c.height);
    CAPTURE(c.width);
    CAPTURE(c.conv.in_channels);
    CAPTURE(c.conv.kernel[1]);
    for (const int vector : {1, 8, 16, 32}) Layer(c, vector, 0.3, random).check_tiles(4, random);
  }
  for (const double density : {0.0, 0.02, 1.0}) {
    Layer(conv_cases()[15], 16, density, random).check_tiles(6, random);
  }
}

TEST_CASE("resident_conv equals the reference with every tile of maps of 2 to 32 pixels") {
  if (lacks_gpu()) return;
  RandomValues random(52);
  for (const std::int64_t side : {2, 4, 8, 16, 32}) {
    const std::int64_t channels = side <= 4 ? 160 : 64;
    const ConvCase c{
        side <= 8 ? 20 : 9,
        side,
        side,
        {.in_channels = channels, .out_channels = 48, .kernel = {3, 3}, .padding = {1, 1}}};
    CAPTURE(side);
    Layer(c, 16, 0.15, random).check_tiles(1000, random);
  }
}

TEST_CASE("resident_conv gives equal bits for equal inputs where warps and blocks share sums") {
  if (lacks_gpu()) return;
  RandomValues random(53);
  const ConvCase c{
      8, 4, 4, {.in_channels = 128, .out_channels = 32, .kernel = {3, 3}, .padding = {1, 1}}};
  const Layer layer(c, 16, 0.3, random);
  const DeviceTensor in(kFormat, layer.input);
  for (const ResidentTile& tile :
       valid_resident_tiles({c.conv, layer.in_size(), layer.out_size()}, resident_limits())) {
    if (tile.split * tile.cluster < 4) continue;
    CAPTURE(to_string(tile));
    const ResidentLayer uploaded = layer.uploaded(tile, {});
    std::vector<std::vector<float>> runs;
    for (int run = 0; run < 3; ++run) {
      const DeviceTensor out(kFormat, layer.expected.shape);
      resident_conv(uploaded, in.view(), nullptr, out.view(), best_gathered_loads(), nullptr);
      runs.push_back(out.values());
    }
    CHECK(runs[0] == runs[1]);
    CHECK(runs[0] == runs[2]);
  }
}

TEST_CASE("resident_conv follows the launch before and precedes the next one") {
  if (lacks_gpu()) return;
  RandomValues random(54);
  const ConvCase c{
      40, 8, 8, {.in_channels = 64, .out_channels = 64, .kernel = {3, 3}, .padding = {1, 1}}};
  const Layer layer(c, 16, 0.05, random);
  const ResidentTile tile =
      resident_tiles({c.conv, layer.in_size(), layer.out_size(), 30}, resident_limits(), 1).at(0);
  const ResidentLayer uploaded = layer.uploaded(tile, {.has_relu = true});
  // Two buffers in turn: a launch that did not wait would overwrite what the one before reads.
  const DeviceTensor first(kFormat, layer.input), second(kFormat, layer.input);
  reference::Array expected = layer.input;
  const Stream stream;
  CUDA_CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 4; ++i) {
    const DeviceTensor& from = i % 2 == 0 ? first : second;
    const DeviceTensor& to = i % 2 == 0 ? second : first;
    resident_conv(uploaded, from.view(), nullptr, to.view(), best_gathered_loads(), stream.get());
  }
  stream.synchronize();
  for (int i = 0; i < 4; ++i) expected = layer.next(expected);
  CHECK(relative_error(first.values(), expected.values) <= 2 * tolerance(Precision::f16));
}

TEST_CASE("resident_conv refuses what does not fit") {
  if (lacks_gpu()) return;
  RandomValues random(55);
  const ConvCase c{
      8, 4, 4, {.in_channels = 32, .out_channels = 32, .kernel = {3, 3}, .padding = {1, 1}}};
  const Layer layer(c, 16, 0.3, random);
  const ResidentTile tile =
      resident_tiles({c.conv, layer.in_size(), layer.out_size(), 90}, resident_limits(), 1).at(0);
  const ResidentLayer uploaded = layer.uploaded(tile, {});
  const DeviceTensor out(kFormat, {8, 32, 4, 4}), small(kFormat, {8, 32, 2, 2});
  const DeviceTensor other({.layout = Layout::chwn8, .precision = Precision::f16}, {8, 32, 4, 4});
  const auto refusal = [&](const DeviceTensor& added, const DeviceTensor& to) {
    const ActivationView addend = added.view();
    return error_of([&] {
      resident_conv(uploaded, layer.in.view(), &addend, to.view(), best_gathered_loads(), nullptr);
    });
  };
  CHECK(refusal(out, small) == ErrorCode::usage);
  CHECK(refusal(out, other) == ErrorCode::usage);
  CHECK(refusal(small, out) == ErrorCode::usage);
  CHECK(refusal(other, out) == ErrorCode::usage);
}

}  // namespace winnow
