// Export against the network that it came from, evaluated by the reference operations.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "export/export_report.h"
#include "quantize/quantize_model.h"
#include "runtime/model/model_file.h"
#include "runtime/model/weight_parts.h"
#include "runtime/model/zero_masks.h"
#include "tests/model/graphs.h"
#include "tests/quantize/random_networks.h"

namespace winnow {
namespace {

// A deployed model as a model again, to be evaluated.
Model as_model(const DeployedModel& deployed) {
  Model model;
  model.graph = deployed.graph;
  for (const Node& node : deployed.graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      model.tensors[parameter.name] =
          Tensor::from<float>(parameter.shape, dense_floats(deployed.weights.at(parameter.name)));
    }
  }
  return model;
}

// Exports, sends it through a file's bytes and checks that it computes the same.
ExportedModel exported_equal(const Model& model, const ExportOptions& options = {}) {
  ExportedModel exported = export_model(model, options);
  const auto bytes = serialize_model_file(exported.model);
  CHECK(parse_model_file(bytes, "file") == exported.model);
  CHECK(relative_difference(evaluate(model), evaluate(as_model(exported.model))) < 2e-5);
  return exported;
}

// Masks filters at random and gives half of them a bias above 0, so that they are constants that
// pass a relu.
void kill_filters(Model& model, const std::string& name, double share, Random& random) {
  Tensor& weight = model.tensors.at(name + ".weight");
  Tensor mask(DataType::u8, weight.shape());
  const auto channels = static_cast<std::size_t>(weight.shape()[0]);
  const std::size_t inner = weight.values<float>().size() / channels;
  const auto bias = model.tensors.at(name + ".bias").values<float>();
  for (std::size_t k = 0; k < channels; ++k) {
    const bool is_dead = random.chance(share);
    if (is_dead) bias[k] = random.chance(0.5) ? 0.75f : -0.5f;
    for (std::size_t i = k * inner; i < (k + 1) * inner; ++i) {
      const bool is_kept = !is_dead && random.chance(0.5);
      mask.values<std::uint8_t>()[i] = is_kept;
      if (!is_kept) weight.values<float>()[i] = 0;
    }
  }
  model.tensors[name + ".weight.mask"] = std::move(mask);
  model.mask_vector[name] = 1;
}

// Of nine positions to four, padded at one end, both or none.
Pool average(std::int64_t padding, Random& random) {
  Pool op{PoolKind::average, 2, {3, 3}, {2, 2}, {padding, padding}};
  if (padding > 0 && random.chance(0.5)) op.padding_end = Pair{0, padding};
  op.counts_padding = random.chance(0.5);
  return op;
}

// Bounds below and above the constants that dead filters give.
Relu relu(Random& random) {
  if (random.chance(0.5)) return {};
  return {random.chance(0.5) ? 0.5 : 1.0};
}

// Chains, a concat, an add and both kinds of pooling, with paddings chosen at random.
Graph random_graph(Random& random) {
  const std::int64_t p1 = random.between(0, 1), p2 = random.between(0, 1);
  Conv branch = conv(8, 6, 1);
  Conv same = conv(12, 6, 3, 1);
  Graph graph = graph_of({2, 9, 9}, {{"a", conv(2, 8, 3, 1), {"input"}},
                                     {"ra", relu(random), {"a"}},
                                     {"b", conv(8, 6, 3, 1), {"ra"}},
                                     {"rb", relu(random), {"b"}},
                                     {"c", branch, {"ra"}},
                                     {"both", Concat{}, {"rb", "c"}},
                                     {"d", same, {"both"}},
                                     {"e", conv(12, 6, 1), {"both"}},
                                     {"sum", Add{}, {"d", "e"}},
                                     {"rs", Relu{}, {"sum"}},
                                     {"f", conv(6, 8, 3, p1), {"rs"}},
                                     {"rf", relu(random), {"f"}},
                                     {"avg", average(p2, random), {"rf"}},
                                     {"g", conv(8, 5, 1), {"avg"}},
                                     {"rg", Relu{}, {"g"}},
                                     {"flat", Flatten{}, {"rg"}},
                                     {"fc1", Linear{0, 9, true}, {"flat"}},
                                     {"rh", relu(random), {"fc1"}},
                                     {"fc2", Linear{9, 4, false}, {"rh"}}});
  fill_input_sizes(graph);
  return graph;
}

TEST_CASE("removal never changes the function, whatever dies") {
  std::int64_t removed = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Model model = random_network(random_graph(random), seed);
    for (const char* layer : {"a", "b", "c", "d", "e", "f", "g", "fc1"}) {
      if (random.chance(0.7)) kill_filters(model, layer, 0.4, random);
    }
    for (const RemovedChannels& channels : exported_equal(model).removed) {
      removed += channels.outputs;
    }
  }
  CHECK(removed > 400);
}

// Channels of several layers that meet, which go together.
Graph coupled_graph() {
  Conv depthwise = conv(8, 8, 3, 1);
  depthwise.groups = 8;
  return graph_of({3, 8, 8}, {{"stem", conv(3, 8, 3, 1), {"input"}},
                              {"relu0", Relu{}, {"stem"}},
                              {"a", conv(8, 6, 3, 1), {"relu0"}},
                              {"ra", Relu{}, {"a"}},
                              {"b", conv(6, 8, 3, 1), {"ra"}},
                              {"sum", Add{}, {"b", "relu0"}},
                              {"deep", depthwise, {"sum"}},
                              {"rd", Relu{}, {"deep"}},
                              {"both", Concat{}, {"sum", "rd"}},
                              {"norm", BatchNorm{16}, {"both"}},  // no neighbour takes it in
                              {"rn", Relu{}, {"norm"}},
                              {"c", conv(16, 5, 3, 1), {"rn"}},
                              {"pool", GlobalPool{}, {"c"}},
                              {"fc", Linear{5, 4, true}, {"pool"}}});
}

void clear_channel(Model& model, const std::string& node, std::size_t channel) {
  for (const char* part : {".weight", ".bias"}) {
    Tensor& tensor = model.tensors.at(node + part);
    const std::size_t inner =
        tensor.values<float>().size() / static_cast<std::size_t>(tensor.shape()[0]);
    std::fill_n(tensor.values<float>().begin() + static_cast<std::ptrdiff_t>(channel * inner),
                inner, 0.0f);
  }
}

TEST_CASE("channels that meet in an add go from all layers, with norms and depthwise filters") {
  Model model = random_network(coupled_graph(), 51);
  for (const std::size_t channel : {1, 4, 6}) {
    for (const char* layer : {"stem", "b", "deep", "norm"}) clear_channel(model, layer, channel);
    clear_channel(model, "norm", 8 + channel);
  }
  clear_channel(model, "stem", 0);  // b's is alive
  const ExportedModel exported = exported_equal(model);
  const Graph& graph = exported.model.graph;
  const auto conv_of = [&](const char* name) {
    return std::get<Conv>(graph.nodes[node_index(graph, name)].op);
  };
  CHECK(conv_of("stem").out_channels == 5);
  CHECK(conv_of("a").in_channels == 5);
  CHECK(conv_of("b").out_channels == 5);
  CHECK(conv_of("deep").groups == 5);
  CHECK(conv_of("norm").groups == 10);
  CHECK(conv_of("c").in_channels == 10);
}

TEST_CASE("coupled channels go from quantized weights too") {
  for (const WeightForm form : {WeightForm::fixed16, WeightForm::fixed8, WeightForm::codebook4}) {
    Model model = random_network(coupled_graph(), 54);
    for (const std::size_t channel : {0, 5}) {
      for (const char* layer : {"stem", "b", "deep", "norm"}) clear_channel(model, layer, channel);
      clear_channel(model, "norm", 8 + channel);
    }
    mask_zeros(model, 1);
    const ExportedModel exported = exported_equal(quantize_weights(model, {form, form}).model);
    const Graph& graph = exported.model.graph;
    for (const char* layer : {"stem", "b", "deep"}) {
      CAPTURE(layer);
      CHECK(std::get<Conv>(graph.nodes[node_index(graph, layer)].op).out_channels == 6);
    }
  }
}

TEST_CASE("a coupled channel that a norm makes a constant stays") {
  Model model = random_network(coupled_graph(), 52);
  for (const char* layer : {"stem", "b", "deep"}) clear_channel(model, layer, 3);
  const ExportedModel exported = exported_equal(model);
  CHECK(exported.removed.empty());
}

TEST_CASE("coupled channels in vectors go in whole groups") {
  Graph graph = graph_of({3, 8, 8}, {{"stem", conv(3, 24, 3, 1), {"input"}},
                                     {"b", conv(24, 24, 3, 1), {"stem"}},
                                     {"sum", Add{}, {"b", "stem"}},
                                     {"c", conv(24, 5, 3, 1), {"sum"}}});
  Model model = random_network(graph, 53);
  for (const char* layer : {"stem", "b"}) {
    for (std::size_t channel = 0; channel < 12; ++channel) clear_channel(model, layer, channel);
  }
  mask_zeros(model, 8);
  const ExportedModel exported = exported_equal(model);
  CHECK(std::get<Conv>(exported.model.graph.nodes[1].op).out_channels == 16);
  CHECK(exported.removed.front() == RemovedChannels{"stem", 8, 0});
}

TEST_CASE("a network with nothing alive in a layer still exports") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    Random random(seed);
    Model model = random_network(random_graph(random), seed);
    kill_filters(model, seed == 1 ? "a" : seed == 2 ? "fc1" : "b", 1.0, random);
    exported_equal(model);
  }
}

TEST_CASE("batch norms and dropouts anywhere leave the function as it is") {
  const Model model = random_network(graph_of({3, 6, 6}, {{"bn0", BatchNorm{3}, {}},
                                                          {"conv1", conv(3, 8, 3, 1), {}},
                                                          {"drop1", Dropout{}, {}},
                                                          {"bn1", BatchNorm{8}, {}},
                                                          {"relu1", Relu{0.5}, {}},
                                                          {"conv2", conv(8, 8, 3, 1), {}},
                                                          {"sum", Add{}, {"conv2", "relu1"}},
                                                          {"bn2", BatchNorm{8}, {}},
                                                          {"relu2", Relu{0.75}, {}},
                                                          {"flat", Flatten{}, {}},
                                                          {"fc", Linear{288, 7, true}, {}},
                                                          {"bn3", BatchNorm{7}, {}}}),
                                     11);
  exported_equal(model);
}

TEST_CASE("every quantized form is deployed with the values of the checkpoint") {
  Random random(12);
  for (const WeightForm form :
       {WeightForm::fixed16, WeightForm::fixed8, WeightForm::codebook8, WeightForm::codebook4}) {
    for (const int vector : {1, 8, 16}) {
      Model model = random_network(graph_of({4, 7, 7}, {{"conv1", conv(4, 24, 3, 1), {}},
                                                        {"bn", BatchNorm{24}, {}},
                                                        {"relu1", Relu{}, {}},
                                                        {"conv2", conv(24, 20, 3), {}},
                                                        {"relu2", Relu{}, {}},
                                                        {"flat", Flatten{}, {}},
                                                        {"fc", Linear{500, 10, true}, {}}}),
                                   13);
      prune_node(model, "conv2", vector, 0.1, 14);
      prune_node(model, "fc", 1, 0.1, 15);
      const Model quantized = quantize_weights(model, {form, form}).model;
      const ExportedModel exported = exported_equal(quantized, {ValueForm::automatic, false});
      for (const char* name : {"conv1", "conv2", "fc"}) {
        const Tensor expected = weight_of(quantized, name);
        const auto values = expected.values<float>();
        CHECK(dense_floats(exported.model.weights.at(std::string(name) + ".weight")) ==
              std::vector<float>(values.begin(), values.end()));
      }
      REQUIRE(std::holds_alternative<CsrWeight>(exported.model.weights.at("conv2.weight")));
      CHECK(std::get<CsrWeight>(exported.model.weights.at("conv2.weight")).vector == vector);
    }
  }
}

TEST_CASE("channel scales are deployed, and go with the channels that are removed") {
  for (const int vector : {1, 8, 16}) {
    CAPTURE(vector);
    Model model = random_network(graph_of({4, 7, 7}, {{"conv1", conv(4, 24, 3, 1), {}},
                                                      {"bn", BatchNorm{24}, {}},
                                                      {"relu1", Relu{}, {}},
                                                      {"conv2", conv(24, 40, 3), {}},
                                                      {"bn2", BatchNorm{40}, {}},
                                                      {"relu2", Relu{}, {}},
                                                      {"pool", GlobalPool{}, {}},
                                                      {"fc", Linear{40, 10, true}, {}}}),
                                 31);
    const auto gammas = model.tensors.at("bn2.weight").values<float>();
    for (std::size_t k = 0; k < gammas.size(); ++k) gammas[k] = k % 3 == 0 ? 0.05f : 1.5f;
    std::fill_n(gammas.begin() + 16, 16, 0.0f);  // filters of zeros
    std::fill_n(model.tensors.at("bn2.bias").values<float>().begin() + 16, 16, -0.5f);
    prune_node(model, "conv2", vector, 0.3, 32);
    const WeightForm form = WeightForm::codebook4;
    const Model quantized = quantize_weights(model, {form, form}).model;
    REQUIRE(quantized.tensors.count("conv2.weight.channel_scale") == 1);
    const ExportedModel all = exported_equal(quantized, {ValueForm::automatic, false});
    const auto expected = to_floats(weight_of(quantized, "conv2"));
    CHECK(dense_floats(all.model.weights.at("conv2.weight")) == expected);
    const auto& sparse = std::get<CsrWeight>(all.model.weights.at("conv2.weight"));
    CHECK(sparse.values.lanes == vector);
    CHECK(sparse.values.channel_scale.size() == 40);
    CHECK(sparse.kept[static_cast<std::size_t>(16 / vector)] == 0);

    const ExportedModel cut = exported_equal(quantized);
    REQUIRE(!cut.removed.empty());
    const ExportReport report = make_report(quantized, cut, {{"m.wnw", 1}, {}, {}});
    CHECK(report.layers[1].channel_scales == 24);
    CHECK(report_table(report).find("codebook4 scaled") != std::string::npos);
    const auto& left = std::get<CsrWeight>(cut.model.weights.at("conv2.weight"));
    CHECK(left.channels == 24);
    CHECK(left.values.channel_scale.size() == 24);
    for (const ValueForm decoded : {ValueForm::f32, ValueForm::f16}) {
      const ExportedModel floats = export_model(quantized, {decoded, true});
      const auto& weight = std::get<CsrWeight>(floats.model.weights.at("conv2.weight"));
      CHECK(weight.values.channel_scale.empty());
    }
  }
}

TEST_CASE("export folds a batch norm into the scales of codes that are there already") {
  Model model = random_network(
      graph_of({3, 6, 6}, {{"conv", conv(3, 16, 3), {}}, {"bn", BatchNorm{16}, {}}}), 33);
  Model inner = model;  // the convolution alone, to be quantized without the batch norm
  inner.graph.nodes.pop_back();
  for (const Parameter& parameter : parameters_of(model.graph.nodes.back())) {
    inner.tensors.erase(parameter.name);
  }
  const WeightForm form = WeightForm::codebook4;
  for (const auto& [name, tensor] : quantize_weights(inner, {form, form}).model.tensors) {
    model.tensors[name] = tensor;
  }
  model.tensors.erase("conv.weight");
  const DeployedModel deployed = export_model(model, {}).model;
  const auto& weight = std::get<DenseWeight>(deployed.weights.at("conv.weight"));
  CHECK(weight.values.encoding == Encoding::codebook4);
  CHECK(weight.values.channel_scale.size() == 16);
  CHECK(relative_difference(evaluate(model), evaluate(as_model(deployed))) < 0x1p-11);
}

// fc [2, 64] keeps columns 0 .. 7 of each row.
Model eight_kept(const std::vector<float>& row) {
  Model model = random_network(graph_of({64}, {{"fc", Linear{64, 2, true}, {}}}), 16);
  Tensor mask(DataType::u8, {2, 64});
  const auto weight = model.tensors.at("fc.weight").values<float>();
  std::fill(weight.begin(), weight.end(), 0.0f);
  for (const std::size_t start : {0, 64}) {
    std::copy(row.begin(), row.end(), weight.begin() + static_cast<std::ptrdiff_t>(start));
    std::fill_n(mask.values<std::uint8_t>().begin() + static_cast<std::ptrdiff_t>(start), 8, 1);
  }
  model.tensors["fc.weight.mask"] = std::move(mask);
  model.mask_vector["fc"] = 1;
  return model;
}

TEST_CASE("kept weights that are 0 as deployed make no row longer") {
  const Model model = eight_kept({1, 0.5f, 1e-9f, 1e-9f, -1, 1e-9f, 0, 0.25f});
  const auto row_length = [](const DeployedModel& deployed) {
    return std::get<CsrWeight>(deployed.weights.at("fc.weight")).row_length;
  };
  CHECK(row_length(export_model(model, {ValueForm::f32, true}).model) == 7);
  CHECK(row_length(export_model(model, {ValueForm::f16, true}).model) == 4);
  const Model fixed = quantize_weights(model, {WeightForm::fixed8}).model;
  CHECK(row_length(exported_equal(fixed).model) == 4);
  // The centroid of the tiny ones rounds to 0 in fp16: their code is not 0, their value is.
  const Model codes = quantize_weights(model, {WeightForm::codebook4, WeightForm::codebook4}).model;
  CHECK(row_length(exported_equal(codes).model) == 4);
}

TEST_CASE("the report compares stored bytes with the network as it was trained") {
  Random random(17);
  Model model = random_network(graph_of({3, 8, 8}, {{"conv1", conv(3, 16, 3, 1), {}},
                                                    {"bn", BatchNorm{16}, {}},
                                                    {"relu", Relu{}, {}},
                                                    {"conv2", conv(16, 8, 3, 1), {}}}),
                               18);
  kill_filters(model, "conv2", 0.0, random);
  auto mask = model.tensors.at("conv2.weight.mask").values<std::uint8_t>();
  auto weight = model.tensors.at("conv2.weight").values<float>();
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (i / 9 % 16 < 12) continue;  // no filter reads the last four channels
    mask[i] = 0;
    weight[i] = 0;
  }
  const ExportedModel exported = exported_equal(model);
  const auto bytes = static_cast<std::int64_t>(serialize_model_file(exported.model).size());
  const ExportReport report = make_report(model, exported, {{"m.wnw", bytes}, {}, {}});
  REQUIRE(report.layers.size() == 2);
  CHECK(report.layers[0].shape == Shape{12, 3, 3, 3});
  CHECK(report.layers[0].dense_f32_bytes == 4 * 16 * 27);
  CHECK(report.layers[1].shape == Shape{8, 12, 3, 3});
  CHECK(report.layers[1].dense_f32_bytes == 4 * 8 * 16 * 9);
  const auto json = nlohmann::json::parse(report_json(report));
  CHECK(json["bytes"] == bytes);
  CHECK(json["removed_channels"].size() == 2);
  CHECK(json["removed_channels"][0]["outputs"] == 4);
  CHECK(report_table(report).find("removed from conv1: 4 output and 0 input channels") !=
        std::string::npos);
}

}  // namespace
}  // namespace winnow
