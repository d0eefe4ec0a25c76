#include "quantize/quantize_model.h"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/model/safetensors.h"
#include "tests/model/graphs.h"
#include "tests/quantize/random_networks.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

// conv1 pruned by element, conv2 by vector 8, fc dense.
Model pruned_network(std::uint64_t seed, double density2 = 0.2) {
  Model model = random_network(graph_of({3, 8, 8}, {{"conv1", conv(3, 12, 3, 1), {}},
                                                    {"bn1", BatchNorm{12}, {}},
                                                    {"relu1", Relu{}, {}},
                                                    {"conv2", conv(12, 20, 3), {}},
                                                    {"bn2", BatchNorm{20}, {}},
                                                    {"relu2", Relu{}, {}},
                                                    {"pool", GlobalPool{}, {}},
                                                    {"fc", Linear{20, 10, true}, {}}}),
                               seed);
  prune_node(model, "conv1", 1, 0.4, seed + 1);
  prune_node(model, "conv2", 8, density2, seed + 2);
  return model;
}

// With the largest relative difference of outputs that each may cause.
struct FormBound {
  WeightForm form;
  double bound;
};
constexpr FormBound kForms[] = {{WeightForm::fixed16, 1e-3},
                                {WeightForm::codebook8, 1e-2},
                                {WeightForm::fixed8, 5e-2},
                                {WeightForm::codebook4, 0.2}};

TEST_CASE("every form keeps masks, passes the checks and computes nearly the same") {
  const Model model = pruned_network(1);
  const std::vector<float> expected = evaluate(model);
  for (const FormBound& allowed : kForms) {
    CAPTURE(to_string(allowed.form));
    const QuantizedModel quantized = quantize_weights(model, {allowed.form});
    check_model(quantized.model, "quantized");
    for (const char* node : {"conv1", "conv2"}) {
      const std::string name = std::string(node) + ".weight.mask";
      CHECK(quantized.model.tensors.at(name) == model.tensors.at(name));
    }
    CHECK(quantized.model.mask_vector == model.mask_vector);
    const double difference = relative_difference(expected, evaluate(quantized.model));
    CHECK(difference > 0);
    CHECK(difference < allowed.bound);
  }
}

TEST_CASE("kept weights keep codes of their own, masked ones have code 0") {
  const Model model = pruned_network(2);
  const Model quantized = quantize_weights(model, {WeightForm::codebook4}).model;
  const auto codes = quantized.tensors.at("conv1.weight.codes").values<std::uint8_t>();
  const auto mask = model.tensors.at("conv1.weight.mask").values<std::uint8_t>();
  for (std::size_t i = 0; i < codes.size(); ++i) CHECK((codes[i] != 0) == (mask[i] != 0));
  CHECK(quantized.tensors.at("conv1.weight.codebook").shape() == Shape{16});
  CHECK(quantized.tensors.count("conv1.weight") == 0);
  CHECK(quantized.tensors.count("bn1.weight") == 0);
}

TEST_CASE("the codes of fixed point weights are those of eq 5") {
  Model model = random_network(
      graph_of({1, 1, 4}, {{"flat", Flatten{}, {}}, {"fc", Linear{4, 2, true}, {}}}), 3);
  const std::vector<float> weight = {0.5f, -0.75f, 0.1f, 0, 0.3f, 0.004f, -0.004f, 0.7f};
  model.tensors["fc.weight"] = Tensor::from<float>({2, 4}, weight);
  const QuantizedModel quantized = quantize_weights(model, {WeightForm::fixed8});
  const auto codes = quantized.model.tensors.at("fc.weight.codes").values<std::int8_t>();
  const std::vector<std::int8_t> expected = {64, -96, 13, 0, 38, 1, -1, 90};  // times 2^-7
  CHECK(std::vector<std::int8_t>(codes.begin(), codes.end()) == expected);
  CHECK(quantized.model.tensors.at("fc.weight.scale").values<float>()[0] == 0x1p-7f);
  REQUIRE(quantized.layers.size() == 1);
  CHECK(quantized.layers[0].frac_bits == 7);
  CHECK(quantized.layers[0].largest_error == doctest::Approx(0.0038125));  // 0.004 - 2^-7
  CHECK(quantized.layers[0].code_bytes == 8 + 4);
}

TEST_CASE("the report counts what is kept and what it costs") {
  const QuantizedModel quantized = quantize_weights(pruned_network(4), {WeightForm::codebook4});
  REQUIRE(quantized.layers.size() == 3);
  const LayerQuantization& layer = quantized.layers[1];
  CHECK(layer.name == "conv2");
  CHECK(layer.weights == 20 * 12 * 9);
  CHECK(layer.kept < layer.weights / 2);
  CHECK(layer.f32_bytes == 4 * layer.kept);
  CHECK(layer.code_bytes == (layer.kept + 1) / 2 + 32 + (layer.has_channel_scale ? 40 : 0));
  CHECK(layer.signal_to_noise > 15);
}

// Batch norms that leave channels of sizes over `spread` octaves; conv2 keeps about 90 weights
// each.
Model network_of_sizes(std::uint64_t seed, double spread) {
  Model model = pruned_network(seed, 0.8);
  Random random(seed);
  for (const char* name : {"bn1.weight", "bn2.weight"}) {
    for (float& gamma : model.tensors.at(name).values<float>()) {
      gamma = static_cast<float>(std::exp2(random.uniform(-spread / 2, spread / 2)));
    }
  }
  return model;
}

TEST_CASE("channel scales never raise the error, and lower it where sizes differ") {
  for (std::uint64_t seed = 20; seed < 32; ++seed) {
    const double spread = static_cast<double>(seed % 4) * 2;
    CAPTURE(seed);
    const Model model = network_of_sizes(seed, spread);
    for (const WeightForm form : {WeightForm::codebook4, WeightForm::codebook8}) {
      WeightQuantization options{form, form};
      const QuantizedModel with = quantize_weights(model, options);
      options.channel_scale = ChannelScale::off;
      const QuantizedModel without = quantize_weights(model, options);
      check_model(with.model, "scaled");
      for (std::size_t i = 0; i < with.layers.size(); ++i) {
        const LayerQuantization& layer = with.layers[i];
        const std::string name = layer.name + ".weight.channel_scale";
        CHECK(!without.layers[i].has_channel_scale);
        CHECK(without.model.tensors.count(name) == 0);
        CHECK(layer.has_channel_scale == (with.model.tensors.count(name) == 1));
        const double gain = layer.signal_to_noise - without.layers[i].signal_to_noise;
        CHECK(gain >= 0);
        if (!layer.has_channel_scale) continue;
        CHECK(gain == doctest::Approx(layer.scale_gain).epsilon(0.001));
        const std::int64_t channels = with.model.tensors.at(name).shape()[0];
        CHECK(gain > worthwhile_gain(channels, layer.kept));
        CHECK(layer.code_bytes == without.layers[i].code_bytes + 2 * channels);
      }
      const bool is_spread = spread > 3 && form == WeightForm::codebook4;
      if (is_spread) CHECK(with.layers[1].has_channel_scale);
    }
  }
}

TEST_CASE("scales that are not worth their bytes are left out") {
  // 20 channels of 12 kept weights each: 1.3 bits per weight, 8 dB.
  Model model = random_network(
      graph_of({1, 1, 60}, {{"flat", Flatten{}, {}}, {"fc", Linear{60, 20, true}, {}}}), 33);
  prune_node(model, "fc", 1, 0.2, 34);
  const QuantizedModel quantized =
      quantize_weights(model, {WeightForm::codebook4, WeightForm::codebook4});
  CHECK(quantized.layers[0].form == WeightForm::codebook4);
  CHECK(!quantized.layers[0].has_channel_scale);
  CHECK(quantized.layers[0].scale_gain < worthwhile_gain(20, quantized.layers[0].kept));
}

TEST_CASE("layers with no more weights than channels stay f32, and so do all for 32b") {
  const Model model = random_network(graph_of({3, 4, 4}, {{"conv", conv(3, 3, 3, 1), {}},
                                                          {"bn", BatchNorm{3}, {"conv"}},
                                                          {"sum", Add{}, {"bn", "conv"}}}),
                                     5);
  const QuantizedModel quantized = quantize_weights(model, {WeightForm::codebook4});
  CHECK(quantized.layers[1].name == "bn");
  CHECK(quantized.layers[1].form == WeightForm::f32);
  CHECK(quantized.model.tensors.count("bn.weight") == 1);
  const QuantizedModel untouched = quantize_weights(model, {WeightForm::f32});
  CHECK(untouched.model.tensors.count("conv.weight") == 1);
  CHECK(std::isinf(untouched.layers[0].signal_to_noise));
}

TEST_CASE("a small layer that reads the input is finer than 16 centroids") {
  const auto forms = [](const Model& model, const WeightQuantization& options) {
    std::vector<std::string> names;
    for (const LayerQuantization& layer : quantize_weights(model, options).layers) {
      names.emplace_back(to_string(layer.form));
    }
    return names;
  };
  // conv1 reads the input through a pool; it holds 54 of 1,356 weights, in `large` 54 of 558.
  const auto network = [](std::int64_t second, std::int64_t inputs) {
    return random_network(graph_of({3, 8, 8}, {{"pool", Pool{}, {}},
                                               {"conv1", conv(3, 2, 3, 1), {}},
                                               {"flat", Flatten{}, {}},
                                               {"fc1", Linear{inputs, second, true}, {}},
                                               {"fc2", Linear{second, 10, true}, {}}}),
                          9);
  };
  const Model small = network(31, 32), large = network(12, 32);
  CHECK(forms(small, {}) == std::vector<std::string>{"16b", "4b", "4b"});
  CHECK(forms(large, {}) == std::vector<std::string>{"4b", "4b", "4b"});
  CHECK(forms(small, {WeightForm::codebook4, WeightForm::codebook4}) ==
        std::vector<std::string>{"4b", "4b", "4b"});
  CHECK(forms(small, {WeightForm::fixed8}) == std::vector<std::string>{"8b", "8b", "8b"});
}

TEST_CASE("quantized checkpoints come back from their file as they were") {
  const TemporaryDirectory directory;
  for (const auto& [form, bound] : kForms) {
    const Model model = quantize_weights(network_of_sizes(6, 8), {form}).model;
    if (form == WeightForm::codebook4)
      CHECK(model.tensors.count("conv2.weight.channel_scale") == 1);
    save_model(directory / "q.safetensors", model);
    CHECK(load_model(directory / "q.safetensors") == model);
  }
}

TEST_CASE("equal models give equal codes") {
  const Model a = quantize_weights(pruned_network(7)).model;
  CHECK(a == quantize_weights(pruned_network(7)).model);
}

TEST_CASE("what is quantized already or damaged is refused") {
  Model model = quantize_weights(pruned_network(8)).model;
  CHECK(error_of([&] { quantize_weights(model); }) == ErrorCode::usage);
  model = pruned_network(8);
  model.tensors.erase("fc.weight");
  CHECK(error_of([&] { quantize_weights(model); }) == ErrorCode::bad_file);
  model = pruned_network(8);
  model.tensors.at("fc.weight").values<float>()[3] = NAN;
  CHECK(error_of([&] { quantize_weights(model, {WeightForm::fixed8}); }) == ErrorCode::bad_file);
  CHECK(error_of([&] { quantize_weights(model); }).has_value());
}

}  // namespace
}  // namespace winnow
