#include "runtime/bench/layer_setup.h"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/base/half.h"
#include "runtime/base/noise.h"
#include "runtime/bench/conv_cases.h"
#include "runtime/bench/sampled_outputs.h"
#include "runtime/reference/operations.h"
#include "tests/throws.h"

namespace winnow {
namespace {

ConvLayer small_layer(bool is_pooled) {
  ConvLayer layer{"small", 6, 8, {}, is_pooled};
  layer.conv.in_channels = 5;
  layer.conv.out_channels = 32;
  layer.conv.kernel = {3, 3};
  layer.conv.padding = {1, 1};
  return layer;
}

constexpr ConvMask kMask = {RandomMask::independent, 16, 50};

SessionOptions half_session() {
  return {.batch = 3, .precision = Precision::f16, .all_plans = true};
}

reference::Array noise_input(const Shape& shape) {
  reference::Array input{shape, {}};
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    input.values.push_back(
        to_float(to_half(noise_value(static_cast<std::uint32_t>(i), kBenchSeed))));
  }
  return input;
}

}  // namespace

TEST_CASE("sampled outputs are those of the reference, with and without a pooling") {
  for (const bool is_pooled : {false, true}) {
    CAPTURE(is_pooled);
    const ConvLayer layer = small_layer(is_pooled);
    const DeployedModel model = conv_model(layer, kMask);
    const LayerSetup setup(model, half_session());
    const auto weight = to_dense(std::get<CsrWeight>(model.weights.at("conv.weight")));
    reference::Array expected = reference::relu(reference::conv(
        layer.conv, noise_input({3, 5, 6, 8}), weight, std::vector<float>(32, 0.125f)));
    if (is_pooled) expected = reference::pool(Pool{}, expected);

    const SampledOutputs samples = sample_outputs(setup, 50);
    CHECK(samples.positions.size() >= 50);
    for (std::size_t i = 0; i < samples.positions.size(); ++i) {
      const float value = expected.values.at(static_cast<std::size_t>(samples.positions[i]));
      CHECK(samples.values[i] == doctest::Approx(value).epsilon(1e-4));
    }
  }
  const DeployedModel model = conv_model(small_layer(false), kMask);
  CHECK(sample_outputs(LayerSetup(model, half_session()), 0).positions.empty());
}

TEST_CASE("the relative error is the norm of differences over that of the expected values") {
  CHECK(relative_error({3, 5}, {3, 4}) == doctest::Approx(0.2));
  CHECK(relative_error({}, {}) == 0);
  CHECK(std::isnan(relative_error({NAN, 4}, {3, 4})));
}

TEST_CASE("a pooling kernel follows a convolution in its layout") {
  const DeployedModel model = conv_model(small_layer(true), kMask);
  const LayerSetup setup(model, half_session());
  const ActivationFormat nhwc{.layout = Layout::nhwc, .precision = Precision::f16};
  const LayerKernel whole =
      setup.whole({.family = "dense", .kernel = "k", .in = nhwc, .out = nhwc, .layer = nullptr});
  CHECK(whole.kernel == "k, pool");
  CHECK(whole.between == nhwc);
  CHECK(whole.out == nhwc);
  const ActivationFormat halo{
      .layout = Layout::nchw, .precision = Precision::f16, .halo_h = 1, .halo_w = 1};
  CHECK(setup.pooled_format(halo)->layout == Layout::nchw);

  const DeployedModel alone = conv_model(small_layer(false), kMask);
  const LayerSetup unpooled(alone, half_session());
  CHECK(unpooled.pool() == nullptr);
  CHECK(!unpooled.whole(whole).kernel.ends_with("pool, pool"));
}

TEST_CASE("other models than one convolution are refused") {
  DeployedModel model = conv_model(small_layer(true), kMask);
  model.graph.nodes.push_back({"relu2", Relu{}, {"pool"}});
  CHECK(message_of([&] { LayerSetup setup(model, half_session()); }) ==
        "a layer to measure: expected one convolution, or one and a max pooling");
}

}  // namespace winnow
