#include "quantize/measurement.h"

#include <doctest/doctest.h>

#include <numeric>

#include "quantize/stepwise_network.h"
#include "tests/model/graphs.h"
#include "tests/quantize/noise_images.h"
#include "tests/quantize/random_networks.h"
#include "tests/throws.h"

namespace winnow {
namespace {

const MeasurementOptions kCpu = {.device = {Device::Kind::cpu, 0}};

// Two outputs: the pixel's value and 0.5, for images of one pixel.
Model one_pixel_model() {
  Model model;
  model.graph = graph_of({1, 1, 1}, {{"flatten", Flatten{}, {}}, {"linear", Linear{1, 2}, {}}});
  const std::vector<float> weight = {1, 0}, bias = {0, 0.5f};
  model.tensors["linear.weight"] = Tensor::from<float>({2, 1}, weight);
  model.tensors["linear.bias"] = Tensor::from<float>({2}, bias);
  return model;
}

// Pixels are value / 255; label 0 says "above one half".
ImageSet pixels(std::vector<std::uint8_t> values, std::vector<std::int32_t> labels) {
  ImageSet images;
  images.count = static_cast<std::int64_t>(values.size());
  images.channels = images.height = images.width = 1;
  images.pixels = std::move(values);
  images.labels = std::move(labels);
  images.classes = {"bright", "dark"};
  return images;
}

TEST_CASE("accuracy counts the highest output, whatever the batch") {
  const ImageSet images = pixels({0, 100, 200, 255, 30}, {1, 1, 0, 0, 0});
  for (const std::int64_t batch : {1, 2, 512}) {
    CHECK(accuracy_of(one_pixel_model(), images, {kCpu.device, batch}) == doctest::Approx(0.8));
  }
}

TEST_CASE("a measurement tells of every batch") {
  const ImageSet images = pixels({0, 100, 200, 255, 30}, {1, 1, 0, 0, 0});
  std::vector<std::int64_t> told;
  accuracy_of(one_pixel_model(), images,
              {kCpu.device, 2, [&](std::int64_t samples) { told.push_back(samples); }});
  CHECK(told == std::vector<std::int64_t>{2, 2, 1});
}

TEST_CASE("of equal outputs the first class wins") {
  Model model = one_pixel_model();
  model.tensors.at("linear.weight").values<float>()[0] = 0;
  model.tensors.at("linear.bias").values<float>()[0] = 0.5f;
  CHECK(accuracy_of(model, pixels({9, 9, 9, 9}, {0, 0, 0, 1}), kCpu) == 0.75);
}

TEST_CASE("outputs are those after preprocessing") {
  Model model = one_pixel_model();
  model.preprocessing.mean = {0.5f};
  model.preprocessing.deviation = {0.25f};
  CHECK(outputs_of(model, pixels({255, 0}, {0, 1}), kCpu) ==
        std::vector<float>{2.0f, 0.5f, -2.0f, 0.5f});
}

TEST_CASE("activations are rounded where the model says so") {
  Model model = one_pixel_model();
  model.activation_bits = 8;
  model.activation_frac = {{"linear", 1}};  // steps of one half
  CHECK(outputs_of(model, pixels({102, 200}, {0, 0}), kCpu) ==
        std::vector<float>{0.5f, 0.5f, 1.0f, 0.5f});  // 0.4 and 0.784
  model.activation_frac = {{"linear", 9}};            // at most 127 / 512
  CHECK(outputs_of(model, pixels({255}, {0}), kCpu)[0] == 127.0f / 512);
  model.activation_frac = {{"input", 0}};
  CHECK(outputs_of(model, pixels({100, 200}, {0, 0}), kCpu) ==
        std::vector<float>{0.0f, 0.5f, 1.0f, 0.5f});
}

TEST_CASE("round_to_fixed_point rounds halves to even and saturates") {
  CHECK(round_to_fixed_point(0.3f, 8, 2) == 0.25f);
  CHECK(round_to_fixed_point(0.125f, 8, 2) == 0.0f);
  CHECK(round_to_fixed_point(0.375f, 8, 2) == 0.5f);
  CHECK(round_to_fixed_point(100.0f, 8, 2) == 127.0f / 4);
  CHECK(round_to_fixed_point(-100.0f, 8, 2) == -32.0f);
  CHECK(round_to_fixed_point(1000.0f, 8, -4) == 992.0f);  // 62 * 16
}

TEST_CASE("observation finds maxima and counts every value once") {
  Model model = one_pixel_model();
  model.preprocessing.mean = {0.0f};
  model.preprocessing.deviation = {0.1f};
  const auto statistics =
      observe_activations(model, pixels({255, 51, 0}, {0, 0, 0}), {kCpu.device, 2});
  REQUIRE(statistics.size() == 3);
  const ActivationStatistics& linear = statistics.at("linear");
  CHECK(linear.max_magnitude == doctest::Approx(10.0));
  CHECK(linear.limit == 16.0);
  REQUIRE(linear.histogram.size() == kActivationBins);
  CHECK(std::accumulate(linear.histogram.begin(), linear.histogram.end(), std::int64_t{0}) == 6);
  CHECK(linear.histogram[64] == 3);    // 0.5 of 16
  CHECK(linear.histogram[256] == 1);   // 2
  CHECK(linear.histogram[1280] == 1);  // 10
  CHECK(linear.histogram[0] == 1);
}

// What the graph's nodes give by plain loops, rounded where the model says so.
std::vector<float> by_plain_loops(const Model& model, const ImageSet& images) {
  std::map<std::string, reference::Array> values;
  const std::vector<Shape> shapes = infer_shapes(model.graph, images.count);
  reference::Array input{shapes[0], {}};
  for (const std::uint8_t byte : images.pixels) input.values.push_back(byte / 255.0f);
  for (const Node& node : model.graph.nodes) {
    std::vector<const reference::Array*> inputs;
    for (const std::string& name : node.inputs) inputs.push_back(&values.at(name));
    if (inputs.empty()) inputs.push_back(&input);
    reference::Array& value = values[node.name];
    value = std::visit(NodeEvaluation(model, node, inputs), node.op);
    const auto frac = model.activation_frac.find(node.name);
    if (frac == model.activation_frac.end()) continue;
    for (float& x : value.values) x = round_to_fixed_point(x, model.activation_bits, frac->second);
  }
  return values.at(model.graph.nodes.back().name).values;
}

TEST_CASE("steps of all kinds agree with plain loops, rounded or not") {
  Model model = random_network(joined_graph(), 3);
  prune_node(model, "conv2", 1, 0.4, 4);
  const ImageSet images =
      noise_images(37, {4, 6, 6});  // more than a step's session takes at a time
  CHECK(relative_difference(by_plain_loops(model, images), outputs_of(model, images, kCpu)) < 1e-5);

  // Sums of products end beside a step's border only by chance, and the steps are fine.
  model.activation_bits = 16;
  model.activation_frac = {{"input", 10}, {"relu1", 9}, {"conv2", 8}, {"sum", 8}, {"pool", 10}};
  const std::vector<float> rounded = outputs_of(model, images, kCpu);
  CHECK(relative_difference(by_plain_loops(model, images), rounded) < 1e-2);
  CHECK(outputs_of(model, images, {kCpu.device, 5}) == rounded);
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
  CHECK(relative_difference(by_plain_loops(model, images), outputs_of(model, images, kCpu)) < 1e-5);
  const auto statistics = observe_activations(model, images, kCpu);
  CHECK(statistics.count("input") == 1);
  CHECK(statistics.count("relu") == 1);
  CHECK(statistics.count("conv") == 0);
  CHECK(statistics.count("fc") == 1);
}

TEST_CASE("what measures is named") {
  CHECK(measuring_device(one_pixel_model(), kCpu.device).starts_with("cpu ("));
}

TEST_CASE("images that cannot be measured on are refused") {
  const auto measure = [](const ImageSet& images) {
    return message_of([&] { accuracy_of(one_pixel_model(), images, kCpu); });
  };
  CHECK(measure(pixels({}, {})) == "measurement: there are no images");
  CHECK(measure(pixels({1, 2}, {0})) == "images: found 1 labels, expected 2");
  CHECK(measure(noise_images(4, {3, 2, 2})) ==
        "net: samples are [3, 2, 2], the network's input is [1, 1, 1]");
}

}  // namespace
}  // namespace winnow
