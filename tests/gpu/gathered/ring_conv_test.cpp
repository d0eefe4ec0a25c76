#include "runtime/gpu/gathered/ring_conv.h"

#include <doctest/doctest.h>

#include "runtime/gpu/gathered/channel_places.h"
#include "runtime/gpu/gathered/ring_choice.h"
#include "runtime/reference/operations.h"
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
constexpr std::int64_t kShared = 227 * 1024;

struct Setting {
  int vector = 16;
  double density = 0.3;
  RingPool pool = RingPool::none;
  bool is_sum = false;
};

// Whether the case must end here because the GPU is of another kind. ctest counts it as skipped.
bool lacks_ring() {
  if (lacks_gpu()) return true;
  const std::string reason = ring_missing_reason();
  if (!reason.empty()) std::printf("skipped: %s\n", reason.c_str());
  return !reason.empty();
}

void check_layer(const ConvCase& c, const Setting& s, RandomValues& random) {
  const Conv& conv = c.conv;
  const std::int64_t cols = conv.in_channels / conv.groups * conv.kernel[0] * conv.kernel[1];
  const CsrWeight weight = random.weight(conv.out_channels, cols, s.vector, s.density);
  const std::vector<float> bias = random.reals(static_cast<std::size_t>(conv.out_channels));
  const reference::Array input = random.array({c.batch, conv.in_channels, c.height, c.width});
  const bool has_relu = random.below(2) == 0;
  Conv two = conv;
  two.rank = 2;  // 1D convolutions run as one row
  reference::Array expected = reference::conv(two, input, to_dense(weight), bias);
  const reference::Array added_values = random.array(expected.shape);
  if (s.is_sum) {
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
      expected.values[i] += added_values.values[i];
    }
  }
  if (has_relu) expected = reference::relu(expected);
  if (s.pool != RingPool::none) {
    const PoolKind kind = s.pool == RingPool::max ? PoolKind::max : PoolKind::average;
    expected = reference::pool(Pool{.kind = kind}, expected);
  }

  const GatheredGroups groups = gathered_groups(block_csr(weight), conv);
  const DeviceTensor in(kIn, input), added(kOut, added_values);
  const RingWork work{.conv = conv,
                      .pool = s.pool,
                      .adds = s.is_sum,
                      .in = extents_of(input.shape),
                      .groups = groups.weight.rows(),
                      .columns = 30,
                      .sms = 7,
                      .most_shared_bytes = kShared};
  const std::vector<RingTile> tiles = all_ring_tiles(work);
  CHECK(!tiles.empty());
  for (const RingTile& tile : tiles) {
    const RingLayer layer =
        upload_ring_layer(pack_for_ring(groups, conv, tile, places_in_order(1, conv.in_channels),
                                        places_in_order(2, conv.out_channels), s.is_sum),
                          bias, {conv, tile, has_relu, s.pool, s.is_sum});
    const DeviceTensor out(kOut, expected.shape), by_threads(kOut, expected.shape);
    const ActivationView addend_view = added.view();
    const ActivationView* const addend = s.is_sum ? &addend_view : nullptr;
    ring_conv(layer, in.view(), addend, out.view(), work.sms, best_gathered_loads(), nullptr);
    ring_conv(layer, in.view(), addend, by_threads.view(), work.sms, GatheredLoads::by_threads,
              nullptr);
    CAPTURE(to_string(tile));
    CAPTURE(c.batch);
    CAPTURE(c.height);
    CAPTURE(conv.in_channels);
    CAPTURE(conv.kernel[1]);
    CAPTURE(s.vector);
    CAPTURE(s.density);
    CHECK(relative_error(out.values(), expected.values) <= tolerance(Precision::f16));
    CHECK(out.is_frame_untouched());
    CHECK(by_threads.values() == out.values());
    CHECK(by_threads.is_frame_untouched());
  }
}

}  // namespace

TEST_CASE("ring_conv equals the reference") {
  if (lacks_ring()) return;
  RandomValues random(31);
  std::vector<ConvCase> cases = conv_cases();
  cases.push_back({130, 7, 7, square_conv(33, 16, 3, 1, 1)});
  for (const ConvCase& c : cases) {
    for (const int vector : {1, 8, 16, 32}) check_layer(c, {.vector = vector}, random);
  }
  for (const double density : {0.0, 0.02, 1.0}) {
    check_layer(cases[15], {.density = density}, random);
  }
}

TEST_CASE("ring_conv adds another value before relu") {
  if (lacks_ring()) return;
  RandomValues random(32);
  for (const ConvCase& c : conv_cases()) check_layer(c, {.is_sum = true}, random);
}

TEST_CASE("ring_conv pools windows of 2 x 2 outputs") {
  if (lacks_ring()) return;
  RandomValues random(33);
  for (const ConvCase& c : {ConvCase{9, 8, 8, square_conv(40, 33, 3, 1, 1)},
                            ConvCase{3, 15, 17, square_conv(8, 16, 3, 1, 1)},
                            ConvCase{2, 28, 28, square_conv(16, 200, 1, 1, 0)},
                            ConvCase{2, 9, 31, square_conv(3, 48, 5, 2, 2)}}) {
    for (const RingPool pool : {RingPool::max, RingPool::average}) {
      for (const int vector : {1, 16}) check_layer(c, {.vector = vector, .pool = pool}, random);
    }
  }
}

TEST_CASE("ring_conv refuses tensors that do not fit") {
  if (lacks_ring()) return;
  RandomValues random(34);
  const Conv conv = square_conv(40, 32, 3, 1, 1);
  const GatheredGroups groups = gathered_groups(block_csr(random.weight(32, 360, 16, 0.2)), conv);
  const RingTile tile;
  const RingLayer layer = upload_ring_layer(
      pack_for_ring(groups, conv, tile, plain_places(40), plain_places(32), false),
      random.reals(32), {conv, tile});
  const DeviceTensor in(kFormat, Shape{8, 40, 6, 6}), other(kFormat, Shape{8, 32, 6, 6});
  const DeviceTensor out(kFormat, Shape{8, 32, 6, 6}), small(kFormat, Shape{8, 32, 6, 5});
  const DeviceTensor nhwc({.layout = Layout::nhwc, .precision = Precision::f16},
                          Shape{8, 40, 6, 6});
  const auto refusal = [&](const DeviceTensor& from, const DeviceTensor* addend,
                           const DeviceTensor& to) {
    const ActivationView view = addend == nullptr ? ActivationView{} : addend->view();
    return error_of([&] {
      ring_conv(layer, from.view(), addend == nullptr ? nullptr : &view, to.view(), 4,
                best_gathered_loads(), nullptr);
    });
  };
  CHECK_FALSE(refusal(in, nullptr, out).has_value());
  CHECK(refusal(other, nullptr, out) == ErrorCode::usage);
  CHECK(refusal(in, nullptr, small) == ErrorCode::usage);
  CHECK(refusal(nhwc, nullptr, out) == ErrorCode::usage);
  CHECK(refusal(in, &small, out) == ErrorCode::usage);
  const RingLayer adding =
      upload_ring_layer(pack_for_ring(groups, conv, tile, plain_places(40), plain_places(32), true),
                        random.reals(32), {.conv = conv, .tile = tile, .adds = true});
  CHECK(error_of([&] {
          ring_conv(adding, in.view(), nullptr, out.view(), 4, best_gathered_loads(), nullptr);
        }) == ErrorCode::usage);
}

}  // namespace winnow
