#include "runtime/model/fold_batch_norm.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/model/graphs.h"
#include "tests/quantize/random_networks.h"
#include "tests/throws.h"

namespace winnow {
namespace {

bool has_batch_norm_or_dropout(const Model& model) {
  return std::any_of(model.graph.nodes.begin(), model.graph.nodes.end(), [](const Node& node) {
    return std::holds_alternative<BatchNorm>(node.op) || std::holds_alternative<Dropout>(node.op);
  });
}

std::vector<std::string> names(const Model& model) {
  std::vector<std::string> result;
  for (const Node& node : model.graph.nodes) result.push_back(node.name);
  return result;
}

// Folds, checks that the function is the same and the model whole.
Model folded_equal(const Model& model) {
  Model folded = fold_batch_norm(model);
  CHECK(!has_batch_norm_or_dropout(folded));
  check_model(folded, "folded");
  CHECK(relative_difference(evaluate(model), evaluate(folded)) < 1e-5);
  return folded;
}

Conv without_bias(Conv op) {
  op.has_bias = false;
  return op;
}

TEST_CASE("a batch norm scales the filters of the convolution before it") {
  Model model = random_network(graph_of({1, 1, 1}, {{"conv", without_bias(conv(1, 1, 1)), {}},
                                                    {"bn", BatchNorm{1, 1e-12}, {}}}),
                               1);
  const auto set = [&](const std::string& name, float value) {
    model.tensors.at(name).values<float>()[0] = value;
  };
  set("conv.weight", 3);
  set("bn.weight", 2);
  set("bn.bias", 5);
  set("bn.running_mean", 7);
  set("bn.running_var", 4);
  const Model folded = fold_batch_norm(model);  // s = 2 / sqrt(4) = 1
  CHECK(names(folded) == std::vector<std::string>{"input", "conv"});
  CHECK(folded.tensors.at("conv.weight").values<float>()[0] == 6 / 2);
  CHECK(folded.tensors.at("conv.bias").values<float>()[0] == -2);  // 5 - 1 * 7
  CHECK(folded.tensors.size() == 2);
}

TEST_CASE("folding keeps the function of chains, with and without biases and dropouts") {
  const Model model =
      random_network(graph_of({2, 7, 6}, {{"conv1", without_bias(conv(2, 5, 3, 1)), {}},
                                          {"bn1", BatchNorm{5}, {}},
                                          {"relu1", Relu{}, {}},
                                          {"conv2", conv(5, 4, 3), {}},
                                          {"drop", Dropout{}, {}},
                                          {"bn2", BatchNorm{4}, {}},
                                          {"bn3", BatchNorm{4}, {}},
                                          {"pool", Pool{}, {}},
                                          {"flat", Flatten{}, {}},
                                          {"fc1", Linear{16, 6, false}, {}},
                                          {"bn4", BatchNorm{6}, {}},
                                          {"drop2", Dropout{}, {}}}),
                     2);
  const Model folded = folded_equal(model);
  CHECK(names(folded) ==
        std::vector<std::string>{"input", "conv1", "relu1", "conv2", "pool", "flat", "fc1"});
}

TEST_CASE("masks stay as they are and masked weights stay 0") {
  Model model = random_network(
      graph_of({3, 5, 5},
               {{"conv", conv(3, 20, 3, 1), {}}, {"bn", BatchNorm{20}, {}}, {"relu", Relu{}, {}}}),
      3);
  prune_node(model, "conv", 8, 0.3, 4);
  const Model folded = folded_equal(model);
  CHECK(folded.tensors.at("conv.weight.mask") == model.tensors.at("conv.weight.mask"));
  CHECK(folded.mask_vector == model.mask_vector);
  CHECK(sparsity(folded) == sparsity(model));
}

TEST_CASE("a batch norm that no producer takes in goes into linear readers") {
  const Model model = random_network(graph_of({3, 4, 4}, {{"pool", GlobalPool{}, {}},
                                                          {"bn", BatchNorm{3}, {}},
                                                          {"a", Linear{3, 4, false}, {"bn"}},
                                                          {"b", Linear{3, 4, true}, {"bn"}},
                                                          {"sum", Add{}, {"a", "b"}}}),
                                     5);
  CHECK(names(folded_equal(model)) == std::vector<std::string>{"input", "pool", "a", "b", "sum"});
}

TEST_CASE("what is left of a batch norm is a depthwise convolution") {
  // The convolution is read twice, so that neither of its readers may change it.
  const Model model = random_network(graph_of({3, 4, 4}, {{"conv", conv(3, 3, 3, 1), {}},
                                                          {"bn", BatchNorm{3}, {"conv"}},
                                                          {"relu", Relu{}, {"bn"}},
                                                          {"sum", Add{}, {"relu", "conv"}},
                                                          {"bn2", BatchNorm{3}, {}}}),
                                     6);
  const Model folded = folded_equal(model);
  CHECK(std::get<Conv>(folded.graph.nodes[2].op).groups == 3);
  CHECK(folded.graph.nodes[2].name == "bn");
  CHECK(folded.tensors.at("bn.weight").shape() == Shape{3, 1, 1, 1});
}

TEST_CASE("what is left of a batch norm over features is a diagonal") {
  const Model model = random_network(
      graph_of({3, 2, 2}, {{"flat", Flatten{}, {}}, {"bn", BatchNorm{12}, {}}, {"r", Relu{}, {}}}),
      7);
  const Model folded = folded_equal(model);
  CHECK(std::get<Linear>(folded.graph.nodes[2].op).out_features == 12);
  CHECK(sparsity(folded) == doctest::Approx(11.0 / 12));
}

TEST_CASE("one-dimensional networks fold too") {
  folded_equal(random_network(graph_of({4, 9}, {{"conv", conv1d(4, 6, 3), {}},
                                                {"bn", BatchNorm{6}, {}},
                                                {"relu", Relu{}, {}},
                                                {"bn2", BatchNorm{6}, {}},
                                                {"relu2", Relu{}, {}}}),
                              8));
}

TEST_CASE("the layer takes the batch norm's activation format") {
  Model model = random_network(
      graph_of({3, 4, 4},
               {{"conv", conv(3, 3, 3), {}}, {"bn", BatchNorm{3}, {}}, {"drop", Dropout{}, {}}}),
      9);
  model.activation_bits = 8;
  model.activation_frac = {{"conv", 3}, {"bn", 5}, {"drop", 5}};
  CHECK(fold_batch_norm(model).activation_frac == std::map<std::string, int>{{"conv", 5}});
}

// A convolution with codes of a codebook and a batch norm behind it.
Model clustered_network(std::uint64_t seed) {
  Model model = random_network(graph_of({2, 4, 4}, {{"conv", conv(2, 6, 3), {}},
                                                    {"bn", BatchNorm{6, 1e-12}, {}},
                                                    {"relu", Relu{}, {}}}),
                               seed);
  Random random(seed);
  Tensor codes(DataType::u8, {6, 2, 3, 3});
  for (auto& code : codes.values<std::uint8_t>()) code = static_cast<std::uint8_t>(random.below(4));
  const std::vector<Half> entries = {to_half(0), to_half(-0.7f), to_half(0.1f), to_half(1.3f)};
  model.tensors.erase("conv.weight");
  model.tensors["conv.weight.codes"] = std::move(codes);
  model.tensors["conv.weight.codebook"] = Tensor::from<Half>({4}, entries);
  return model;
}

TEST_CASE("a batch norm goes into the channel scales of a codebook, codes stay") {
  for (std::uint64_t seed = 11; seed < 16; ++seed) {
    Model model = clustered_network(seed);
    if (seed % 2 == 0) {
      const std::vector<Half> scales = {to_half(3),     to_half(-0.5f), to_half(0),
                                        to_half(0.01f), to_half(7),     to_half(1)};
      model.tensors["conv.weight.channel_scale"] = Tensor::from<Half>({6}, scales);
    }
    const Model folded = fold_batch_norm(model);
    check_model(folded, "folded");
    CHECK(!has_batch_norm_or_dropout(folded));
    for (const char* name : {"conv.weight.codes", "conv.weight.codebook"}) {
      CHECK(folded.tensors.at(name) == model.tensors.at(name));
    }
    // Scales are rounded to fp16: by 2^-11 at most.
    CHECK(relative_difference(evaluate(model), evaluate(folded)) < 0x1p-11);
  }
}

TEST_CASE("folding a power of two into a codebook changes no bit of the weights' digits") {
  Model model = clustered_network(16);
  const std::vector<float> factors = {2, -0.5f, 4, 1, 0.125f, 0};
  std::copy(factors.begin(), factors.end(), model.tensors.at("bn.weight").values<float>().begin());
  for (float& variance : model.tensors.at("bn.running_var").values<float>()) variance = 1;
  const Model folded = fold_batch_norm(model);
  const std::vector<float> before = to_floats(weight_of(model, "conv"));
  const std::vector<float> after = to_floats(weight_of(folded, "conv"));
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(after[i] == before[i] * factors[i / 18]);
}

TEST_CASE("channel scales beyond fp16 are refused") {
  Model model = clustered_network(17);
  model.tensors.at("bn.weight").values<float>()[2] = 1e9f;
  CHECK(message_of([&] { fold_batch_norm(model); }).find("a channel scale beyond fp16") !=
        std::string::npos);
}

TEST_CASE("a codebook that reads a batch norm cannot take it in") {
  Model model = random_network(graph_of({3, 4, 4}, {{"pool", GlobalPool{}, {}},
                                                    {"bn", BatchNorm{3}, {}},
                                                    {"fc", Linear{3, 4, true}, {}}}),
                               18);
  model.tensors.erase("fc.weight");
  model.tensors["fc.weight.codes"] = Tensor(DataType::u8, {4, 3});
  model.tensors["fc.weight.codebook"] = Tensor(DataType::f16, {2});
  CHECK(message_of([&] { fold_batch_norm(model); }).find("'fc' is quantized") != std::string::npos);
}

TEST_CASE("damaged, quantized and infinite layers are refused") {
  const Model sound = random_network(
      graph_of({1, 3, 3}, {{"conv", conv(1, 2, 3), {}}, {"bn", BatchNorm{2}, {}}}), 10);
  Model model = sound;
  SUBCASE("a missing tensor") {
    model.tensors.erase("bn.running_mean");
    CHECK(error_of([&] { fold_batch_norm(model); }) == ErrorCode::bad_file);
  }
  SUBCASE("a negative variance") {
    model.tensors.at("bn.running_var").values<float>()[1] = -1;
    CHECK(error_of([&] { fold_batch_norm(model); }) == ErrorCode::bad_file);
  }
  SUBCASE("codes") {
    model.tensors.erase("conv.weight");
    model.tensors["conv.weight.codes"] = Tensor(DataType::i8, {2, 1, 3, 3});
    const float scale = 0.5f;
    model.tensors["conv.weight.scale"] = Tensor::from<float>({1}, std::span(&scale, 1));
    CHECK(message_of([&] { fold_batch_norm(model); }).find("'conv' is quantized") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace winnow
