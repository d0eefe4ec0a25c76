// The network as ONNX, read by our own reader of ONNX: the same graph with the same weights.
#include "export/onnx_model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "export/export_model.h"
#include "import/onnx_import.h"
#include "runtime/base/file.h"
#include "runtime/base/version.h"
#include "runtime/model/architectures.h"
#include "runtime/onnx/onnx_fields.h"
#include "runtime/onnx/wire_reader.h"
#include "tests/model/graphs.h"
#include "tests/quantize/random_networks.h"
#include "tests/temporary_directory.h"

namespace winnow {
namespace {

OnnxModel written(const DeployedModel& model) {
  const TemporaryDirectory directory;
  write_onnx(directory / "m.onnx", model);
  return read_onnx(directory / "m.onnx");
}

Tensor as_tensor(const Parameter& parameter, const Weight& weight) {
  return Tensor::from<float>(parameter.shape, dense_floats(weight));
}

// Exports and imports `model`; graph and weights must be those of the deployed model.
void check_round_trip(const Model& model) {
  const DeployedModel deployed = export_model(model, {}).model;
  const Model back = import_onnx(written(deployed), "m.onnx");
  CHECK(back.graph == deployed.graph);
  CHECK(back.tensors.size() == deployed.weights.size());
  for (const Node& node : deployed.graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      CAPTURE(parameter.name);
      REQUIRE(back.tensors.contains(parameter.name));
      CHECK(back.tensors.at(parameter.name) ==
            as_tensor(parameter, deployed.weights.at(parameter.name)));
    }
  }
}

const OnnxNode& node_called(const OnnxModel& model, const std::string& name) {
  const auto found = std::find_if(model.nodes.begin(), model.nodes.end(),
                                  [&](const OnnxNode& node) { return node.name == name; });
  REQUIRE(found != model.nodes.end());
  return *found;
}

// A DeployedModel of `graph` with random dense weights.
DeployedModel deployed_of(const Graph& graph) {
  return export_model(random_network(graph, 5), {}).model;
}

Conv uneven_conv() {
  Conv op = conv(4, 6, 3, 1);
  op.kernel = {3, 2};
  op.stride = {2, 1};
  op.padding = {2, 0};
  op.dilation = {2, 1};
  op.groups = 2;
  op.has_bias = false;
  return op;
}

}  // namespace

TEST_CASE("joins, convolutions and linear layers come back from ONNX") {
  Model model = random_network(joined_graph(), 3);
  prune_node(model, "conv1", 1, 0.4, 4);
  check_round_trip(model);
}

TEST_CASE("uneven windows, groups and every pooling come back from ONNX") {
  check_round_trip(random_network(
      graph_of({4, 13, 12}, {{"conv", uneven_conv(), {}},
                             {"max", Pool{PoolKind::max, 2, {3, 2}, {1, 2}, {1, 0}}, {}},
                             {"average", Pool{PoolKind::average, 2, {2, 3}, {1, 1}, {0, 1}}, {}},
                             {"three", Add{}, {"average", "average", "average"}},
                             {"top", GlobalPool{PoolKind::max}, {}},
                             {"fc", Linear{6, 3, false}, {}}}),
      6));
}

TEST_CASE("bounds of relus and paddings that differ come back from ONNX") {
  const Pool uneven{.kind = PoolKind::average,
                    .kernel = {3, 3},
                    .stride = {2, 2},
                    .padding = {1, 0},
                    .padding_end = Pair{0, 1},
                    .counts_padding = false};
  const Pool rounded{.kernel = {2, 2}, .stride = {2, 2}, .rounds_up = true};
  check_round_trip(random_network(graph_of({4, 13, 12}, {{"conv", uneven_conv(), {}},
                                                         {"six", Relu{6.0}, {}},
                                                         {"average", uneven, {}},
                                                         {"max", rounded, {}},
                                                         {"top", GlobalPool{PoolKind::max}, {}},
                                                         {"half", Relu{0.5}, {}},
                                                         {"fc", Linear{6, 3, false}, {}}}),
                                  6));
}

TEST_CASE("networks of one dimension come back from ONNX") {
  Conv wide = conv1d(3, 5, 3);
  wide.stride[1] = 2;
  wide.padding[1] = 1;
  wide.dilation[1] = 2;
  check_round_trip(random_network(
      graph_of({3, 40}, {{"conv", wide, {}},
                         {"max", Pool{PoolKind::max, 1, {1, 3}, {1, 2}, {0, 1}}, {}},
                         {"average", Pool{PoolKind::average, 1, {1, 2}, {1, 1}, {0, 0}}, {}},
                         {"flat", Flatten{}, {}},
                         {"fc", Linear{45, 2, true}, {}}}),
      7));
}

TEST_CASE("every built-in network comes back from ONNX, its batch norms folded") {
  for (const std::string& name : architecture_names()) {
    if (name == "textcnn") continue;  // import takes no embeddings
    CAPTURE(name);
    check_round_trip(random_network(build_architecture(name, options_for(name, 7)), 8));
  }
}

TEST_CASE("codes are decoded and dead channels gone") {
  Model model = random_network(
      graph_of({2}, {{"a", Linear{2, 3, true}, {}}, {"r", Relu{}, {}}, {"b", Linear{3, 2}, {}}}),
      9);
  model.tensors.erase("a.weight");
  const std::vector<std::uint8_t> codes = {1, 2, 0, 0, 2, 1};
  const std::vector<Half> entries = {to_half(0), to_half(0.5F), to_half(-2)};
  model.tensors["a.weight.codes"] = Tensor::from<std::uint8_t>({3, 2}, codes);
  model.tensors["a.weight.codebook"] = Tensor::from<Half>({3}, entries);
  model.tensors["a.bias"] = Tensor::from<float>({3}, std::vector<float>{1, -1, 2});
  const OnnxModel onnx = written(export_model(model, {}).model);
  // The second output is -1, which the relu makes 0.
  CHECK(onnx.initializers.at("a.weight") ==
        Tensor::from<float>({2, 2}, std::vector<float>{0.5F, -2, -2, 0.5F}));
  CHECK(onnx.initializers.at("b.weight").shape() == Shape{2, 2});
}

TEST_CASE("the batch is open, the operators are of one set, tokens are int64") {
  const OnnxModel pictures = written(deployed_of(joined_graph()));
  CHECK(pictures.opset == kOnnxOperatorSet);
  REQUIRE(pictures.inputs.size() == 1);
  CHECK(pictures.inputs[0].name == "input");
  CHECK(pictures.inputs[0].element_type == onnx::element::kFloat);
  CHECK(pictures.inputs[0].shape == Shape{kOpenDimension, 4, 6, 6});
  CHECK(pictures.outputs == std::vector<std::string>{"out"});

  const OnnxModel words = written(deployed_of(
      graph_of({6}, {{"embed", Embedding{10, 4}, {}}, {"conv", conv1d(4, 3, 2), {}}}, true)));
  CHECK(words.inputs[0].element_type == onnx::element::kInt64);
  CHECK(words.initializers.at("embed.weight").shape() == Shape{10, 4});
  CHECK(node_called(words, "embed").op == "Gather");
  CHECK(node_called(words, "embed").inputs == std::vector<std::string>{"embed.weight", "input"});
  CHECK(node_called(words, "embed/transpose").attributes.at("perm").integers ==
        std::vector<std::int64_t>{0, 2, 1});
}

TEST_CASE("a node that is called as a weight keeps its name, its value gets another") {
  const Graph graph = graph_of({3}, {{"fc", Linear{3, 3, false}, {}}, {"fc.weight", Relu{}, {}}});
  check_round_trip(random_network(graph, 2));
  const OnnxModel onnx = written(deployed_of(graph));
  CHECK(node_called(onnx, "fc.weight").outputs == std::vector<std::string>{"fc.weight_"});
  CHECK(onnx.outputs == std::vector<std::string>{"fc.weight_"});
}

TEST_CASE("the metadata say who wrote the file, how pictures are normalised, and the classes") {
  DeployedModel model = deployed_of(joined_graph());
  model.classes = {"a \"b\"", "c", "d"};
  model.preprocessing = {{0.5F, 0.5F, 0.5F, 0.25F}, {1, 1, 1, 2}};
  model.metadata = {{"seed", "7"}};
  const TemporaryDirectory directory;
  write_onnx(directory / "m.onnx", model);
  const MappedFile file(directory / "m.onnx");
  WireReader message(file.bytes(), "m.onnx", "model");
  std::map<std::string, std::string> metadata;
  while (message.next()) {
    if (message.number() != onnx::model::kMetadata) continue;
    WireReader entry = message.message("entry");
    REQUIRE(entry.next());
    const std::string key = entry.text();
    REQUIRE(entry.next());
    metadata[key] = entry.text();
  }
  CHECK(metadata == std::map<std::string, std::string>{
                        {"seed", "7"},
                        {"winnow.version", version_text()},
                        {"winnow.classes", R"(["a \"b\"","c","d"])"},
                        {"winnow.preprocessing",
                         R"({"deviation":[1.0,1.0,1.0,2.0],"mean":[0.5,0.5,0.5,0.25]})"}});
}

}  // namespace winnow
