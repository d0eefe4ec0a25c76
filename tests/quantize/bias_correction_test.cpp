#include "quantize/bias_correction.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "quantize/measured_network.h"
#include "quantize/quantize_model.h"
#include "runtime/base/random.h"
#include "runtime/model/weight_parts.h"
#include "tests/model/graphs.h"
#include "tests/quantize/noise_images.h"
#include "tests/quantize/random_networks.h"
#include "tests/throws.h"

namespace winnow {
namespace {

const Device kCpu = {Device::Kind::cpu, 0};

MeanInputs mean_inputs(const Model& model, const ImageSet& images, std::int64_t batch = 512) {
  return MeasuredNetwork(model, kCpu).mean_layer_inputs(images, {batch});
}

// Of one layer: its outputs' mean by channel, over samples and positions.
std::vector<double> mean_outputs(const Model& model, const ImageSet& images) {
  const std::vector<float> outputs = MeasuredNetwork(model, kCpu).outputs(images);
  const Shape shape = infer_shapes(model.graph, images.count).back();
  const auto channels = static_cast<std::size_t>(shape[1]);
  const std::size_t positions = outputs.size() / (channels * static_cast<std::size_t>(shape[0]));
  std::vector<double> means(channels);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    means[i / positions % channels] +=
        outputs[i] / static_cast<double>(positions * static_cast<std::size_t>(images.count));
  }
  return means;
}

Model quantized_to(const Model& model, WeightForm form) {
  WeightQuantization options;
  options.form = options.first_layer = form;
  return quantize_weights(model, options).model;
}

Conv ragged_conv(Random& random) {
  const auto pick = [&](std::int64_t from, std::int64_t to) {
    return from +
           static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(to - from + 1)));
  };
  Conv op;
  op.groups = pick(1, 3);
  op.in_channels = op.groups * pick(1, 3);
  op.out_channels = op.groups * pick(1, 4);
  op.kernel = {pick(1, 3), pick(1, 4)};
  op.stride = {pick(1, 3), pick(1, 2)};
  op.padding = {pick(0, 2), pick(0, 3)};
  op.dilation = {pick(1, 2), pick(1, 2)};
  return op;
}

TEST_CASE("a bias takes up what its weight lost, times the mean input") {
  Model before = random_network(graph_of({2}, {{"fc", Linear{2, 2}, {}}}), 1);
  const std::vector<float> w = {1, 2, 3, 4}, q = {1, 1.5f, 3.25f, 4}, bias = {10, 20};
  before.tensors["fc.weight"] = Tensor::from<float>({2, 2}, w);
  before.tensors["fc.bias"] = Tensor::from<float>({2}, bias);
  Model after = before;
  after.tensors["fc.weight"] = Tensor::from<float>({2, 2}, q);
  correct_biases(after, before, {{"fc", {{1, 2}, {8, 6}}}});
  CHECK(to_floats(after.tensors.at("fc.bias")) ==
        std::vector<float>{10 + 0.5f * 6, 20 - 0.25f * 8});
  CHECK(error_of([&] { correct_biases(after, before, {}); }) == ErrorCode::internal);
}

TEST_CASE("padding counts as zeros, at the positions that meet it") {
  Model before = random_network(graph_of({1, 2, 2}, {{"conv", conv(1, 1, 3, 1), {}}}), 1);
  const std::vector<float> w(9, 1), q(9, 0), bias = {0};
  before.tensors["conv.weight"] = Tensor::from<float>({1, 1, 3, 3}, w);
  before.tensors["conv.bias"] = Tensor::from<float>({1}, bias);
  Model after = before;
  after.tensors["conv.weight"] = Tensor::from<float>({1, 1, 3, 3}, q);
  correct_biases(after, before, {{"conv", {{1, 1, 2, 2}, {1, 2, 3, 4}}}});
  CHECK(to_floats(after.tensors.at("conv.bias")) == std::vector<float>{10});  // all four everywhere
}

TEST_CASE("a layer's mean outputs are those of before quantization, whatever its shape") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Conv op = ragged_conv(random);
    Model before = random_network(graph_of({op.in_channels, 9, 11}, {{"conv", op, {}}}), seed);
    if (seed % 2 == 1) prune_node(before, "conv", 1, 0.6, seed);
    const ImageSet images = noise_images(7, {op.in_channels, 9, 11});
    Model after = quantized_to(before, WeightForm::fixed8);
    correct_biases(after, before, mean_inputs(before, images));
    const auto expected = mean_outputs(before, images), found = mean_outputs(after, images);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      CHECK(found[k] == doctest::Approx(expected[k]).epsilon(1e-5));
    }
  }
}

TEST_CASE("the batch norms before quantization are folded for it") {
  const Graph graph =
      graph_of({3, 8, 8}, {{"conv", conv(3, 20, 3, 1), {}}, {"bn", BatchNorm{20}, {}}});
  const Model before = random_network(graph, 4);
  const ImageSet images = noise_images(9, {3, 8, 8});
  const Model uncorrected = quantized_to(before, WeightForm::codebook4);
  Model after = uncorrected;
  correct_biases(after, before, mean_inputs(before, images));
  const auto expected = mean_outputs(before, images), found = mean_outputs(after, images),
             shifted = mean_outputs(uncorrected, images);
  double left = 0, shift = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    left = std::max(left, std::abs(found[k] - expected[k]));
    shift = std::max(shift, std::abs(shifted[k] - expected[k]));
  }
  CHECK(shift > 1e-3);
  CHECK(left < shift / 100);
}

TEST_CASE("a layer without a bias gets one") {
  Conv without = conv(4, 30, 3, 1);
  without.has_bias = false;
  const Model before = random_network(
      graph_of({2, 5, 5},
               {{"first", conv(2, 4, 3, 1), {}}, {"relu", Relu{}, {}}, {"conv", without, {}}}),
      6);
  const ImageSet images = noise_images(9, {2, 5, 5});
  Model after = before;
  after.tensors["conv.weight"] = weight_of(quantized_to(before, WeightForm::codebook4), "conv");
  correct_biases(after, before, mean_inputs(before, images));
  check_model(after, "corrected");
  CHECK(after.tensors.at("first.bias") == before.tensors.at("first.bias"));
  REQUIRE(after.tensors.contains("conv.bias"));
  const auto expected = mean_outputs(before, images), found = mean_outputs(after, images);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    CHECK(found[k] == doctest::Approx(expected[k]).epsilon(1e-5));
  }
}

TEST_CASE("layers that did not change stay as they are") {
  Conv without = conv(2, 30, 3);
  without.has_bias = false;
  const Model before = random_network(
      graph_of({2, 5, 5},
               {{"conv", without, {}}, {"flat", Flatten{}, {}}, {"fc", Linear{270, 3}, {}}}),
      6);
  Model after = before;
  correct_biases(after, before, mean_inputs(before, noise_images(3, {2, 5, 5})));
  CHECK(after == before);
}

TEST_CASE("mean inputs do not depend on the batch and have what each layer reads") {
  const Model model = random_network(joined_graph(), 8);
  const ImageSet images = noise_images(11, {4, 6, 6});
  const MeanInputs whole = mean_inputs(model, images);
  REQUIRE(whole.size() == 3);
  CHECK(whole.at("conv2").shape == Shape{1, 4, 6, 6});
  CHECK(whole.at("fc").shape == Shape{1, 8});
  for (const float x : whole.at("conv2").values) CHECK(x >= 0);  // it reads a relu
  const MeanInputs pieces = mean_inputs(model, images, 3);
  for (const auto& [name, mean] : whole) CHECK(pieces.at(name).values == mean.values);
}

}  // namespace
}  // namespace winnow
