#include "quantize/measured_network.h"

#include <doctest/doctest.h>

#include <numeric>

#include "tests/model/graphs.h"
#include "tests/model/one_pixel.h"
#include "tests/quantize/noise_images.h"
#include "tests/quantize/plain_loops.h"
#include "tests/quantize/random_networks.h"
#include "tests/throws.h"

namespace winnow {
namespace {

const Device kCpu = {Device::Kind::cpu, 0};

std::vector<float> outputs_of(const Model& model, const ImageSet& images,
                              std::int64_t batch = 512) {
  return MeasuredNetwork(model, kCpu).outputs(images, {batch});
}

TEST_CASE("accuracy counts the highest output, whatever the batch") {
  const ImageSet images = pixels({0, 100, 200, 255, 30}, {1, 1, 0, 0, 0});
  for (const std::int64_t batch : {1, 2, 512}) {
    CHECK(MeasuredNetwork(one_pixel_model(), kCpu).accuracy(images, {batch}) ==
          doctest::Approx(0.8));
  }
}

TEST_CASE("a measurement tells of every batch") {
  const ImageSet images = pixels({0, 100, 200, 255, 30}, {1, 1, 0, 0, 0});
  std::vector<std::int64_t> told;
  MeasuredNetwork(one_pixel_model(), kCpu).accuracy(images, {2, [&](std::int64_t samples) {
                                                               told.push_back(samples);
                                                             }});
  CHECK(told == std::vector<std::int64_t>{2, 2, 1});
}

TEST_CASE("of equal outputs the first class wins") {
  Model model = one_pixel_model();
  model.tensors.at("linear.weight").values<float>()[0] = 0;
  model.tensors.at("linear.bias").values<float>()[0] = 0.5f;
  CHECK(MeasuredNetwork(model, kCpu).accuracy(pixels({9, 9, 9, 9}, {0, 0, 0, 1})) == 0.75);
}

TEST_CASE("outputs are those after preprocessing") {
  Model model = one_pixel_model();
  model.preprocessing.mean = {0.5f};
  model.preprocessing.deviation = {0.25f};
  CHECK(outputs_of(model, pixels({255, 0}, {0, 1})) == std::vector<float>{2.0f, 0.5f, -2.0f, 0.5f});
}

TEST_CASE("activations are rounded where the model says so") {
  Model model = one_pixel_model();
  model.activation_bits = 8;
  model.activation_frac = {{"linear", 1}};  // steps of one half
  CHECK(outputs_of(model, pixels({102, 200}, {0, 0})) ==
        std::vector<float>{0.5f, 0.5f, 1.0f, 0.5f});  // 0.4 and 0.784
  model.activation_frac = {{"linear", 9}};            // at most 127 / 512
  CHECK(outputs_of(model, pixels({255}, {0}))[0] == 127.0f / 512);
  model.activation_frac = {{"input", 0}};
  CHECK(outputs_of(model, pixels({100, 200}, {0, 0})) ==
        std::vector<float>{0.0f, 0.5f, 1.0f, 0.5f});
}

TEST_CASE("observation finds maxima and counts every value once") {
  Model model = one_pixel_model();
  model.preprocessing.mean = {0.0f};
  model.preprocessing.deviation = {0.1f};
  const auto histograms =
      MeasuredNetwork(model, kCpu).activations(pixels({255, 51, 0}, {0, 0, 0}), {2});
  REQUIRE(histograms.size() == 3);
  const Histogram& linear = histograms.at("linear");
  CHECK(linear.max_magnitude == doctest::Approx(10.0));
  CHECK(linear.limit == 16.0);
  REQUIRE(linear.bins.size() == kHistogramBins);
  CHECK(std::accumulate(linear.bins.begin(), linear.bins.end(), std::int64_t{0}) == 6);
  CHECK(linear.bins[64] == 3);    // 0.5 of 16
  CHECK(linear.bins[256] == 1);   // 2
  CHECK(linear.bins[1280] == 1);  // 10
  CHECK(linear.bins[0] == 1);
}

TEST_CASE("steps of all kinds agree with plain loops, rounded or not") {
  Model model = random_network(joined_graph(), 3);
  prune_node(model, "conv2", 1, 0.4, 4);
  const ImageSet images =
      noise_images(37, {4, 6, 6});  // more than a step's session takes at a time
  CHECK(relative_difference(by_plain_loops(model, images), outputs_of(model, images)) < 1e-5);

  // Sums of products end beside a step's border only by chance, and the steps are fine.
  model.activation_bits = 16;
  model.activation_frac = {{"input", 10}, {"relu1", 9}, {"conv2", 8}, {"sum", 8}, {"pool", 10}};
  const std::vector<float> rounded = outputs_of(model, images);
  CHECK(relative_difference(by_plain_loops(model, images), rounded) < 1e-2);
  CHECK(outputs_of(model, images, 5) == rounded);
}

TEST_CASE("batch norms are folded and a relu after a layer is observed in its place") {
  const Graph graph = graph_of({3, 8, 8}, {{"conv", conv(3, 4, 3, 1), {}},
                                           {"norm", BatchNorm{4}, {}},
                                           {"relu", Relu{}, {}},
                                           {"drop", Dropout{}, {}},
                                           {"flat", Flatten{}, {}},
                                           {"fc", Linear{256, 3}, {}}});
  const Model model = random_network(graph, 7);
  const ImageSet images = noise_images(6, {3, 8, 8});
  CHECK(relative_difference(by_plain_loops(model, images), outputs_of(model, images)) < 1e-5);
  const auto histograms = MeasuredNetwork(model, kCpu).activations(images);
  CHECK(histograms.count("input") == 1);
  CHECK(histograms.count("relu") == 1);
  CHECK(histograms.count("conv") == 0);
  CHECK(histograms.count("fc") == 1);
}

TEST_CASE("a network run in steps gives what it gives as a whole") {
  const Model model = random_network(joined_graph(), 3);
  const ImageSet images = noise_images(40, {4, 6, 6});
  MeasuredNetwork network(model, kCpu);
  const std::vector<float> whole = network.outputs(images);
  network.round_activations(16, {});  // of no node
  CHECK(relative_difference(whole, network.outputs(images)) < 1e-5);
}

TEST_CASE("a network measures again what it measured before, with the formats that it is given") {
  Model model = random_network(joined_graph(), 3);
  const ImageSet images = noise_images(40, {4, 6, 6});
  MeasuredNetwork network(model, kCpu);
  const std::vector<float> plain = network.outputs(images);
  CHECK(network.outputs(noise_images(3, {4, 6, 6})).size() == 3 * plain.size() / 40);
  CHECK(network.outputs(images) == plain);
  model.activation_bits = 16;
  model.activation_frac = {{"input", 10}, {"relu1", 9}};
  network.round_activations(model.activation_bits, model.activation_frac);
  CHECK(network.outputs(images) == outputs_of(model, images));
  CHECK(network.outputs(images) != plain);
}

TEST_CASE("who waits for a network to be planned is told of each step, in parts too") {
  std::size_t calls = 0, last = 0, all = 0;
  MeasuredNetwork network(one_pixel_model(), kCpu, [&](std::size_t done, std::size_t steps) {
    ++calls;
    last = done;
    all = steps;
  });
  REQUIRE(calls > 0);
  CHECK(last == all);
  const std::size_t as_a_whole = calls;
  network.activations(pixels({255}, {0}));
  CHECK(calls == as_a_whole + 2);
  CHECK(last == 2);
  CHECK(all == 2);
}

TEST_CASE("what measures is named") {
  CHECK(MeasuredNetwork(one_pixel_model(), kCpu).device().starts_with("cpu ("));
}

TEST_CASE("images that cannot be measured on are refused") {
  const auto measure = [](const ImageSet& images) {
    return message_of([&] { MeasuredNetwork(one_pixel_model(), kCpu).accuracy(images); });
  };
  CHECK(measure(pixels({}, {})) == "measurement: there are no images");
  CHECK(measure(pixels({1, 2}, {0})) == "images: found 1 labels, expected 2");
  CHECK(measure(noise_images(4, {3, 2, 2})) ==
        "net: samples are [3, 2, 2], the network's input is [1, 1, 1]");
}

}  // namespace
}  // namespace winnow
