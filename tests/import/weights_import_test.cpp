#include "import/weights_import.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "import/import_refused.h"
#include "runtime/base/random.h"
#include "runtime/model/architectures.h"
#include "runtime/model/zero_masks.h"
#include "tests/throws.h"

namespace winnow {
namespace {

Graph small_graph() {
  Conv conv;
  conv.in_channels = 1;
  conv.out_channels = 2;
  Graph graph{"small", {{"input", Input{{1, 2, 2}, false}, {}}, {"conv", conv, {"input"}}}};
  graph.nodes.push_back({"pool", GlobalPool{}, {"conv"}});
  graph.nodes.push_back({"fc", Linear{2, 3, false}, {"pool"}});
  return graph;
}

Tensor numbers(Shape shape, std::vector<float> values) {
  return Tensor::from<float>(std::move(shape), values);
}

SafetensorsFile small_weights() {
  return {{{"conv.weight", numbers({2, 1, 1, 1}, {1, 0})},
           {"conv.bias", numbers({2}, {3, 4})},
           {"fc.weight", numbers({3, 2}, {1, 2, 3, 4, 5, 6})}},
          {}};
}

// Random tensors of `graph` under torchvision's names for it.
SafetensorsFile random_weights(const Graph& graph, const NameMap& ours_to_theirs) {
  SafetensorsFile file;
  Random random(5);
  for (const Node& node : graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      Tensor tensor(DataType::f32, parameter.shape);
      for (float& x : tensor.values<float>()) x = static_cast<float>(random.uniform());
      const std::string part = parameter.name.substr(node.name.size());
      const auto theirs = ours_to_theirs.find(node.name);
      file.tensors.emplace((theirs == ours_to_theirs.end() ? node.name : theirs->second) + part,
                           std::move(tensor));
    }
  }
  return file;
}

std::vector<std::string> reasons_of(const SafetensorsFile& weights, const NameMap& names = {}) {
  try {
    import_weights(small_graph(), weights, names, false, "w.safetensors");
  } catch (const ImportRefused& refused) {
    return refused.reasons();
  }
  return {};
}

}  // namespace

TEST_CASE("weights go to the parameters of their names, in fp32") {
  SafetensorsFile weights = small_weights();
  const std::vector<Half> halves = {to_half(3), to_half(4)};
  weights.tensors["conv.bias"] = Tensor::from<Half>({2}, halves);
  const WeightsImport result = import_weights(small_graph(), weights, {}, false, "w.safetensors");
  CHECK(result.unmatched.empty());
  CHECK(result.model.tensors.at("conv.bias") == numbers({2}, {3, 4}));
  CHECK(result.model.tensors.at("fc.weight") == numbers({3, 2}, {1, 2, 3, 4, 5, 6}));
  check_model(result.model, "small");
}

TEST_CASE("a map renames layers and single tensors") {
  SafetensorsFile weights = small_weights();
  weights.tensors["head.weight"] = weights.tensors.extract("fc.weight").mapped();
  weights.tensors["offset"] = weights.tensors.extract("conv.bias").mapped();
  CHECK(reasons_of(weights, {{"head", "fc"}, {"offset", "conv.bias"}}).empty());
  CHECK(reasons_of(weights, {{"head", "fc"}}).size() == 2);
}

TEST_CASE("everything that does not meet is listed, or taken as it is with partial") {
  SafetensorsFile weights = small_weights();
  weights.tensors.erase("conv.bias");
  weights.tensors["fc.weight"] = numbers({5, 2}, std::vector<float>(10, 1));
  weights.tensors["extra.weight"] = numbers({1}, {1});
  weights.tensors["norm.num_batches_tracked"] = Tensor(DataType::i64, {});
  const std::vector<std::string> expected = {
      "parameter 'conv.bias' is missing, expected [2]",
      "tensor 'fc.weight': found F32 [5, 2], expected real numbers [3, 2]",
      "tensor 'extra.weight': no parameter takes it"};
  CHECK(reasons_of(weights) == expected);
  const auto refused = [&] { import_weights(small_graph(), weights, {}, false, "w.safetensors"); };
  CHECK(error_of(refused) == ErrorCode::bad_file);
  CHECK(message_of(refused).starts_with("w.safetensors: weights and network differ"));

  const WeightsImport partial = import_weights(small_graph(), weights, {}, true, "w.safetensors");
  CHECK(partial.unmatched == expected);
  CHECK(partial.model.tensors.at("conv.bias") == numbers({2}, {0, 0}));
  const Tensor& fresh = partial.model.tensors.at("fc.weight");
  CHECK(fresh.shape() == Shape{3, 2});
  CHECK(std::none_of(fresh.values<float>().begin(), fresh.values<float>().end(),
                     [](float x) { return x == 0; }));
}

TEST_CASE("zeros become masks, layers without zeros stay dense") {
  Model model = import_weights(small_graph(), small_weights(), {}, false, "w").model;
  mask_zeros(model, 1);
  const std::vector<std::uint8_t> kept = {1, 0};
  CHECK(model.tensors.at("conv.weight.mask") == Tensor::from<std::uint8_t>({2, 1, 1, 1}, kept));
  CHECK(model.mask_vector == std::map<std::string, int>{{"conv", 1}});
  check_model(model, "small");
}

TEST_CASE("vgg16 takes torchvision's names, with batch norm and biases") {
  ArchitectureOptions options{{3, 64, 64}, 7};
  Graph graph = vgg16(options);
  for (Node& node : graph.nodes) {
    if (auto* conv = std::get_if<Conv>(&node.op)) conv->has_bias = true;
  }
  const NameMap theirs = {
      {"conv1_1", "features.0"},  {"bn1_1", "features.1"},    {"conv1_2", "features.3"},
      {"bn1_2", "features.4"},    {"conv2_1", "features.7"},  {"bn2_1", "features.8"},
      {"conv2_2", "features.10"}, {"bn2_2", "features.11"},   {"conv3_1", "features.14"},
      {"bn3_1", "features.15"},   {"conv3_2", "features.17"}, {"bn3_2", "features.18"},
      {"conv3_3", "features.20"}, {"bn3_3", "features.21"},   {"conv4_1", "features.24"},
      {"bn4_1", "features.25"},   {"conv4_2", "features.27"}, {"bn4_2", "features.28"},
      {"conv4_3", "features.30"}, {"bn4_3", "features.31"},   {"conv5_1", "features.34"},
      {"bn5_1", "features.35"},   {"conv5_2", "features.37"}, {"bn5_2", "features.38"},
      {"conv5_3", "features.40"}, {"bn5_3", "features.41"},   {"fc6", "classifier.0"},
      {"fc7", "classifier.3"},    {"fc8", "classifier.6"}};
  const SafetensorsFile weights = random_weights(graph, theirs);
  NameMap names;
  const Graph chosen = graph_for_weights("vgg16", {3, 64, 64}, weights, names);
  const WeightsImport result = import_weights(chosen, weights, names, false, "w");
  CHECK(infer_shapes(result.model.graph, 1).back() == Shape{1, 7});
  CHECK(result.model.tensors.at("bn5_3.running_var") ==
        weights.tensors.at("features.41.running_var"));
  CHECK(result.model.tensors.at("conv2_1.bias") == weights.tensors.at("features.7.bias"));
}

TEST_CASE("vgg16 without batch norm is chosen by what the file has") {
  SafetensorsFile weights;
  weights.tensors["features.0.weight"] = Tensor(DataType::f32, {64, 3, 3, 3});
  weights.tensors["features.0.bias"] = Tensor(DataType::f32, {64});
  weights.tensors["features.28.weight"] = Tensor(DataType::f32, {512, 512, 3, 3});
  weights.tensors["classifier.6.weight"] = Tensor(DataType::f32, {21, 4096});
  NameMap names;
  const Graph graph = graph_for_weights("vgg16", {}, weights, names);
  CHECK(infer_shapes(graph, 1).back() == Shape{1, 21});
  CHECK(names ==
        NameMap{{"features.0", "conv1_1"}, {"features.28", "conv5_3"}, {"classifier.6", "fc8"}});
  CHECK(std::get<Conv>(graph.nodes[1].op).has_bias);
  for (const Node& node : graph.nodes) CHECK(op_name(node.op) != "batch_norm");
}

TEST_CASE("a network whose first convolution is 3 x 3 has the stem for small pictures") {
  for (const char* name : {"resnet18", "densenet121"}) {
    CAPTURE(name);
    const Graph small =
        build_architecture(name, {.input = {3, 32, 32}, .classes = 4, .stem = Stem::cifar});
    NameMap names;
    const Graph found = graph_for_weights(name, {3, 32, 32}, random_weights(small, {}), names);
    CHECK((found == small));
  }
}

TEST_CASE("residual and dense networks have torchvision's names themselves") {
  for (const char* name : {"resnet18", "densenet121"}) {
    CAPTURE(name);
    const SafetensorsFile weights = random_weights(build_architecture(name, {{3, 64, 64}, 4}), {});
    NameMap names;
    const Graph graph = graph_for_weights(name, {3, 64, 64}, weights, names);
    CHECK(import_weights(graph, weights, names, false, "w").unmatched.empty());
    CHECK(infer_shapes(graph, 1).back() == Shape{1, 4});
  }
  const Graph resnet = build_architecture("resnet18", {{3, 64, 64}, 4});
  for (const char* name : {"conv1", "bn1", "layer2.0.conv1", "layer2.0.downsample.0",
                           "layer2.0.downsample.1", "layer4.1.bn2", "fc"}) {
    CHECK(!parameters_of(resnet.nodes[node_index(resnet, name)]).empty());
  }
  const Graph densenet = build_architecture("densenet121", {{3, 64, 64}, 4});
  for (const char* name :
       {"features.conv0", "features.norm0", "features.transition3.conv",
        "features.denseblock4.denselayer16.conv2", "features.norm5", "classifier"}) {
    CHECK(!parameters_of(densenet.nodes[node_index(densenet, name)]).empty());
  }
}

}  // namespace winnow
