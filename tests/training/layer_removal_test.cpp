#include "prune/layer_removal.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "prune/layer_sensitivity.h"
#include "prune/start_model.h"
#include "prune/training/accuracy.h"
#include "prune/training/network/initialization.h"
#include "prune/training/trainability.h"
#include "runtime/model/architectures.h"
#include "tests/throws.h"
#include "tests/training/graphs.h"
#include "tests/training/time_run.h"

namespace winnow {
namespace {

Model vgg16() {
  return initial_model(build_architecture("vgg16", {.input = {3, 32, 32}, .classes = 10}), 1);
}

Model resnet18() {
  return initial_model(build_architecture("resnet18", {.input = {3, 32, 32}, .classes = 10}), 1);
}

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  return names;
}

std::vector<std::string> inputs_of(const Graph& graph, const std::string& name) {
  return graph.nodes[node_index(graph, name)].inputs;
}

// What is left is a whole network: shapes meet, and each parameter has its node.
void check_whole(const Model& model) {
  infer_shapes(model.graph, 2);
  std::size_t parameters = 0;
  for (const Node& node : model.graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      CAPTURE(parameter.name);
      CHECK(model.tensors.at(parameter.name).shape() == parameter.shape);
      ++parameters;
    }
  }
  CHECK(model.tensors.size() == parameters);
}

std::string refusal_of(Model model, const std::vector<std::string>& names) {
  const auto remove = [&] { remove_layers(model, names); };
  CHECK(error_of(remove) == ErrorCode::usage);
  return message_of(remove);
}

}  // namespace

TEST_CASE("a layer is removed with the batch norm, ReLU and dropout that alone read it") {
  const Conv same{.in_channels = 4, .out_channels = 4, .kernel = {3, 3}, .padding = {1, 1}};
  Model model = initial_model(chain({4, 6, 6}, {{"first", same},
                                                {"relu", Relu{}},
                                                {"second", same},
                                                {"norm", BatchNorm{.channels = 4}},
                                                {"relu2", Relu{}},
                                                {"dropout", Dropout{}},
                                                {"pool", Pool{}},
                                                {"flatten", Flatten{}},
                                                {"linear", Linear{36, 5}}}),
                              1);
  model.tensors["second.weight.mask"] = Tensor(DataType::u8, {4, 4, 3, 3});
  model.mask_vector["second"] = 1;
  remove_layers(model, std::vector<std::string>{"second"});
  CHECK(names_of(model.graph) ==
        std::vector<std::string>{"input", "first", "relu", "pool", "flatten", "linear"});
  CHECK(inputs_of(model.graph, "pool") == std::vector<std::string>{"relu"});
  CHECK(model.mask_vector.empty());
  check_whole(model);
}

TEST_CASE("several layers of VGG16 are removed, others keep their weights") {
  Model model = vgg16();
  const std::size_t nodes = model.graph.nodes.size();
  const auto before = model.tensors.at("conv4_1.weight").values<float>();
  const std::vector<float> kept(before.begin(), before.end());
  remove_layers(model, std::vector<std::string>{"conv5_2", "conv4_2", "conv5_3"});
  CHECK(model.graph.nodes.size() == nodes - 9);
  const auto after = model.tensors.at("conv4_1.weight").values<float>();
  CHECK(std::equal(kept.begin(), kept.end(), after.begin(), after.end()));
  check_whole(model);
}

TEST_CASE("the branch of a residual block is removed, and a second ReLU") {
  Model model = resnet18();
  remove_layers(model, std::vector<std::string>{"layer1.1.add", "layer4.1.add"});
  for (const std::string& name : names_of(model.graph)) {
    CHECK_FALSE(name.starts_with("layer1.1."));
    CHECK_FALSE(name.starts_with("layer4.1."));
  }
  CHECK(inputs_of(model.graph, "layer2.0.conv1") == std::vector<std::string>{"layer1.0.relu"});
  CHECK(inputs_of(model.graph, "avgpool") == std::vector<std::string>{"layer4.0.relu"});
  check_whole(model);
}

TEST_CASE("a ReLU behind a removed branch goes where its values were rectified before a pool") {
  Model model = resnet18();
  remove_layers(model, std::vector<std::string>{"layer1.0.add"});
  CHECK(inputs_of(model.graph, "layer1.1.conv1") == std::vector<std::string>{"maxpool"});
  check_whole(model);
}

TEST_CASE("a layer within a branch is removed, the branch stays") {
  Model model = resnet18();
  remove_layers(model, std::vector<std::string>{"layer1.0.conv2"});
  CHECK(inputs_of(model.graph, "layer1.0.add") ==
        std::vector<std::string>{"layer1.0.relu1", "maxpool"});
  check_whole(model);
}

TEST_CASE("the layers that can be removed are listed") {
  CHECK(removable_layers(vgg16().graph) ==
        std::vector<std::string>{"conv1_2", "conv2_2", "conv3_2", "conv3_3", "conv4_2", "conv4_3",
                                 "conv5_1", "conv5_2", "conv5_3"});
  const std::vector<std::string> names = removable_layers(resnet18().graph);
  CHECK(std::ranges::find(names, "layer2.1.add") != names.end());
  CHECK(std::ranges::find(names, "layer2.0.add") == names.end());
  CHECK(std::ranges::find(names, "layer2.0.conv2") != names.end());
}

TEST_CASE("the sensitivity tells the accuracy without a layer") {
  const Bench bench;
  RunConfig config = bench.config("whole");
  add_middle(*config.model.graph);
  run_prune(config, {.is_quiet = true});
  RunConfig scan = bench.config("scan");
  scan.model.weights = bench.folder("whole") + "/dense.safetensors";
  scan.model.graph.reset();
  const SensitivityResult result =
      measure_sensitivity(scan, {.sparsities = {0.5}, .is_quiet = true});
  const auto removed = nlohmann::json::parse(result.json).at("removed");
  REQUIRE(removed.size() == 1);
  CHECK(removed[0]["name"] == "middle");
  Model model = load_model(scan.model.weights);
  remove_layers(model, std::vector<std::string>{"middle"});
  const DataSet data = load_run_data(scan, true, "", model);
  CHECK(removed[0]["accuracy"] == measure_accuracy(model, data.validation));
  CHECK(result.table.find("with one layer removed") != std::string::npos);
}

TEST_CASE("what cannot be removed is refused with the reason") {
  CHECK(refusal_of(vgg16(), {"conv5_9"}) ==
        "vgg16: no node is called 'conv5_9'; did you mean 'conv5_1'?");
  CHECK(refusal_of(vgg16(), {"conv2_1"}) ==
        "layer 'conv2_1' cannot be removed: it makes [1, 128, 16, 16] of [1, 64, 16, 16], expected "
        "a layer whose output has the shape of its input");
  CHECK(refusal_of(vgg16(), {"pool1"}) ==
        "layer 'pool1' cannot be removed: it is a node 'max_pool', expected conv, linear or the "
        "add of a residual branch");
  CHECK(refusal_of(resnet18(), {"layer2.0.add"}) ==
        "layer 'layer2.0.add' cannot be removed: it is a node 'add', expected conv, linear or the "
        "add of a residual branch");
  CHECK(refusal_of(initial_model(chain({4}, {{"only", Linear{4, 4}}}), 1), {"only"}) ==
        "layer 'only' cannot be removed: it gives the network's output");
}

TEST_CASE("runs train networks without the layers, of a table that has them") {
  const Bench bench;
  nlohmann::json table = table_of_times();
  nlohmann::json middle = time_layer("middle", 576, 3.0);
  middle["channels"] = {channel_point(4, 4, 1.0), channel_point(4, 8, 2.0),
                        channel_point(8, 4, 2.0), channel_point(8, 8, 3.0)};
  table["batches"][0]["layers"].push_back(middle);
  for (const std::int64_t vector : {std::int64_t{1}, kWholeChannels}) {
    CAPTURE(vector);
    RunConfig config = time_run(bench, vector == 1 ? "element" : "channel", table);
    config.stage.vector = vector;
    config.method = {.method = Method::magnitude, .allocation = Allocation::least_loss};
    add_middle(*config.model.graph);
    config.model.removed_layers = {"middle"};
    CHECK(run_prune(config, {.is_quiet = true}).target_met);
    const auto json = nlohmann::json::parse(
        read_text_file(bench.folder(vector == 1 ? "element" : "channel") + "/prune.json"));
    CAPTURE(json.dump());
    CHECK(json["layers"].dump().find("middle") == std::string::npos);
    const double predicted = json["time"]["predicted_ms"].get<double>();
    CHECK(predicted <= 3.25 / 1.5);
    CHECK(predicted > 0.5);
  }
}

TEST_CASE("layers are removed from weights that are given, if they are there") {
  const Bench bench;
  RunConfig config = bench.config("whole");
  add_middle(*config.model.graph);
  run_prune(config, {.is_quiet = true});
  const std::string whole = bench.folder("whole") + "/dense.safetensors";
  RunConfig first = bench.config("first");
  first.model.weights = whole;
  first.model.graph.reset();
  first.model.removed_layers = {"middle"};
  run_prune(first, {.is_quiet = true});
  const std::string without = bench.folder("first") + "/dense.safetensors";
  CHECK(load_model(without).tensors.count("middle.weight") == 0);
  RunConfig second = bench.config("second");  // the file lacks the layer already
  add_middle(*second.model.graph);
  second.model.weights = without;
  second.model.removed_layers = {"middle"};
  run_prune(second, {.is_quiet = true});
  second = bench.config("third");
  second.model.weights = without;
  second.model.removed_layers = {"middle"};
  second.model.graph.reset();
  CHECK(message_of([&] {
          run_prune(second, {.is_quiet = true});
        }).find("model.remove_layers: small: no node is called 'middle'") != std::string::npos);
}

}  // namespace winnow
