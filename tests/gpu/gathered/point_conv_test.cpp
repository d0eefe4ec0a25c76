// Linear layers in the resident kernel.
#include <doctest/doctest.h>

#include "runtime/device/stream.h"
#include "runtime/gpu/gathered/channel_places.h"
#include "runtime/gpu/gathered/resident_conv.h"
#include "tests/gpu/device_tensor.h"
#include "tests/gpu/gathered/point_layer.h"
#include "tests/gpu/gpu_case.h"

namespace winnow {
namespace {

constexpr ActivationFormat kIn{
    .layout = Layout::nchw32c8n, .precision = Precision::f16, .order = 1};
constexpr ActivationFormat kOut{
    .layout = Layout::nchw32c8n, .precision = Precision::f16, .order = 2};

// A layer with its input on the GPU, channels of input and output in orders of their own.
class DeviceLayer {
 public:
  DeviceLayer(const PointCase& c, RandomValues& random)
      : layer(c, random), in_(kIn, layer.input), addend_(kOut, layer.added) {}

  std::vector<float> run(const ResidentTile& tile, bool has_addend, bool has_relu,
                         GatheredLoads loads) const {
    const ResidentConvWeights weights =
        layer.packed(tile, places_in_order(1, layer.conv.in_channels),
                     places_in_order(2, layer.conv.out_channels));
    const ResidentLayer uploaded = upload_resident_layer(
        weights, layer.bias, layer.conv, tile, layer.in(), layer.out(), {.has_relu = has_relu});
    const DeviceTensor out(kOut, layer.expected.shape);
    const ActivationView addend = addend_.view();
    resident_conv(uploaded, in_.view(), has_addend ? &addend : nullptr, out.view(), loads, nullptr);
    CHECK(out.is_frame_untouched());
    return out.values();
  }

  void check(const ResidentTile& tile, GatheredLoads loads, RandomValues& random) const {
    const bool has_addend = random.below(2) == 0, has_relu = random.below(2) == 0;
    CAPTURE(to_string(tile));
    CAPTURE(has_addend);
    CAPTURE(loads == GatheredLoads::in_bulk);
    const reference::Array wanted = layer.wanted(has_addend, has_relu);
    CHECK(relative_error(run(tile, has_addend, has_relu, loads), wanted.values) <=
          tolerance(Precision::f16));
  }

  PointLayer layer;

 private:
  DeviceTensor in_, addend_;
};

}  // namespace

TEST_CASE("linear layers of the resident kernel on the GPU equal the reference") {
  if (lacks_gpu()) return;
  RandomValues random(81);
  for (const PointCase& c : point_cases()) {
    CAPTURE(c.batch);
    CAPTURE(c.in);
    CAPTURE(c.out);
    CAPTURE(c.vector);
    const DeviceLayer device(c, random);
    for (const ResidentTile& tile : device.layer.some_tiles(resident_limits(), 24, random)) {
      for (const GatheredLoads loads : {best_gathered_loads(), GatheredLoads::by_threads}) {
        device.check(tile, loads, random);
      }
    }
  }
}

TEST_CASE("linear layers of the resident kernel equal the reference at batches up to 130") {
  if (lacks_gpu()) return;
  RandomValues random(83);
  for (std::int64_t batch = 1; batch <= 130; batch += batch < 20 ? 1 : 11) {
    CAPTURE(batch);
    const DeviceLayer device({.batch = batch, .in = 200, .out = 36, .density = 0.2}, random);
    for (const ResidentTile& tile : device.layer.some_tiles(resident_limits(), 4, random)) {
      device.check(tile, best_gathered_loads(), random);
    }
  }
}

TEST_CASE("the tiles chosen for a linear layer run where its weights do not fit one SM") {
  if (lacks_gpu()) return;
  RandomValues random(85);
  for (const std::int64_t batch : {1, 32, 128}) {
    CAPTURE(batch);
    const DeviceLayer device({.batch = batch, .in = 12544, .out = 512, .density = 0.1}, random);
    const auto tiles = resident_tiles({.conv = device.layer.conv,
                                       .in = device.layer.in(),
                                       .out = device.layer.out(),
                                       .kept_columns = 1254},
                                      resident_limits(), 6);
    REQUIRE(!tiles.empty());
    for (const ResidentTile& tile : tiles) device.check(tile, best_gathered_loads(), random);
  }
}

}  // namespace winnow
