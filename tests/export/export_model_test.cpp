#include "export/export_model.h"

#include <doctest/doctest.h>

#include <limits>

#include "runtime/model/model_file.h"
#include "runtime/reference/reference_session.h"
#include "tests/export/random_model.h"
#include "tests/throws.h"

namespace winnow {
namespace {

// conv1 (3x3, pad) - relu - pool - conv2 (3x3, pad given) - relu - flatten - fc
Graph chain(std::int64_t second_padding) {
  const std::int64_t side = second_padding > 0 ? 4 : 2;
  return {"chain",
          {{"x", Input{{2, 8, 8}}, {}},
           conv_node("conv1", "x", 2, 16, 3, 1),
           {"relu1", Relu{}, {"conv1"}},
           {"pool1", Pool{}, {"relu1"}},
           conv_node("conv2", "pool1", 16, 8, 3, second_padding),
           {"relu2", Relu{}, {"conv2"}},
           {"flat", Flatten{}, {"relu2"}},
           linear_node("fc", "flat", 8 * side * side, 5)}};
}

std::vector<float> outputs(const DeployedModel& model, std::uint64_t seed) {
  const auto session = make_reference_session(model, {.batch = 3});
  const Shape shape = infer_shapes(model.graph, 3).front();
  Random random(seed);
  std::vector<float> input(static_cast<std::size_t>(element_count(shape)));
  for (float& x : input) x = static_cast<float>(random.uniform(-1, 1));
  std::vector<float> output(
      static_cast<std::size_t>(element_count(infer_shapes(model.graph, 3).back())));
  session->run(input, output);
  return output;
}

void check_same_function(const DeployedModel& a, const DeployedModel& b) {
  const std::vector<float> x = outputs(a, 5), y = outputs(b, 5);
  REQUIRE(x.size() == y.size());
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == doctest::Approx(y[i]).epsilon(1e-4));
}

// Exports with and without removal, checks that both compute the same, returns what went.
std::vector<RemovedChannels> removed_from(const Model& model) {
  const ExportedModel all = export_model(model, {ValueForm::automatic, false});
  const ExportedModel cut = export_model(model, {ValueForm::automatic, true});
  CHECK(all.removed.empty());
  check_same_function(all.model, cut.model);
  return cut.removed;
}

TEST_CASE("nothing is removed from a network without dead channels") {
  Random random(1);
  CHECK(removed_from(random_model(chain(1), random)).empty());
}

TEST_CASE("a dead channel that relu holds at zero goes, whatever the padding") {
  Random random(2);
  Model model = random_model(chain(1), random);
  kill_channels(model, "conv1", 3, 2, -0.5f);
  const auto removed = removed_from(model);
  REQUIRE(removed.size() == 2);
  CHECK(removed[0] == RemovedChannels{"conv1", 2, 0});
  CHECK(removed[1] == RemovedChannels{"conv2", 0, 2});
}

TEST_CASE("a constant channel goes into the next bias only where no border differs") {
  Random random(3);
  Model padded = random_model(chain(1), random);
  kill_channels(padded, "conv1", 0, 1, 0.7f);
  CHECK(removed_from(padded).empty());

  Model unpadded = random_model(chain(0), random);
  kill_channels(unpadded, "conv1", 0, 1, 0.7f);
  REQUIRE(removed_from(unpadded).size() == 2);
}

TEST_CASE("constants in front of a linear layer go into its bias, plane by plane") {
  Random random(4);
  Model model = random_model(chain(1), random);
  kill_channels(model, "conv2", 2, 1, 0.3f);
  const auto removed = removed_from(model);
  REQUIRE(removed.size() == 2);
  CHECK(removed[0] == RemovedChannels{"conv2", 1, 0});
  CHECK(removed[1] == RemovedChannels{"fc", 0, 16});
}

TEST_CASE("removal goes on until nothing changes") {
  Random random(5);
  Model model = random_model(chain(0), random);
  // Filter 0 of conv2 reads channel 1 alone, which is the constant 0: it dies with it.
  kill_channels(model, "conv1", 1, 1, -1.0f);
  const auto weight = model.tensors.at("conv2.weight").values<float>();
  for (std::size_t i = 0; i < 16 * 9; ++i) {
    if (i / 9 != 1) weight[i] = 0;
  }
  const auto removed = removed_from(model);
  REQUIRE(removed.size() == 3);
  CHECK(removed[1].layer == "conv2");
  CHECK(removed[1].outputs == 1);
}

TEST_CASE("a channel that nobody reads goes, and so does its filter") {
  Random random(6);
  Model model = random_model(chain(1), random);
  const auto weight = model.tensors.at("conv2.weight").values<float>();
  for (std::size_t k = 0; k < 8; ++k) {
    std::fill_n(weight.begin() + static_cast<std::ptrdiff_t>((k * 16 + 7) * 9), 9, 0.0f);
  }
  const auto removed = removed_from(model);
  REQUIRE(removed.size() == 2);
  CHECK(removed[0] == RemovedChannels{"conv1", 1, 0});
}

TEST_CASE("a vector mask loses whole groups only") {
  Random random(7);
  Model model = random_model(chain(1), random);
  add_random_mask(model, "conv1", 8, 0.6, random);
  kill_channels(model, "conv1", 6, 10, -1.0f);
  const auto removed = removed_from(model);
  REQUIRE(!removed.empty());
  CHECK(removed[0] == RemovedChannels{"conv1", 8, 0});
}

TEST_CASE("a concat shifts columns, an add and the output keep their channels") {
  Graph graph{"merge",
              {{"x", Input{{2, 6, 6}}, {}},
               conv_node("a", "x", 2, 3, 1, 0),
               conv_node("b", "x", 2, 4, 1, 0),
               {"ra", Relu{}, {"a"}},
               {"rb", Relu{}, {"b"}},
               {"cat", Concat{}, {"ra", "rb"}},
               conv_node("c", "cat", 7, 5, 3, 1),
               conv_node("d", "cat", 7, 5, 1, 0),
               {"sum", Add{}, {"c", "d"}},
               {"pool", GlobalPool{}, {"sum"}},
               linear_node("fc", "pool", 5, 3)}};
  graph.nodes[7] = conv_node("d", "cat", 7, 5, 3, 1);
  Random random(8);
  Model model = random_model(graph, random);
  kill_channels(model, "b", 1, 2, -0.2f);
  kill_channels(model, "c", 0, 1, 0.0f);
  kill_channels(model, "fc", 0, 1, 0.0f);
  const auto removed = removed_from(model);
  REQUIRE(removed.size() == 3);
  CHECK(removed[0] == RemovedChannels{"b", 2, 0});
  CHECK(removed[1] == RemovedChannels{"c", 0, 2});
  CHECK(removed[2] == RemovedChannels{"d", 0, 2});
}

TEST_CASE("batch norm and dropout are gone, the function stays") {
  Graph graph{"bn",
              {{"x", Input{{3, 5, 5}}, {}},
               {"bn0", BatchNorm{3}, {"x"}},
               conv_node("conv", "bn0", 3, 4, 3, 0),
               {"bn1", BatchNorm{4}, {"conv"}},
               {"relu", Relu{}, {"bn1"}},
               {"drop", Dropout{}, {"relu"}},
               {"flat", Flatten{}, {"drop"}},
               linear_node("fc", "flat", 36, 3)}};
  Random random(9);
  const Model model = random_model(graph, random);
  const DeployedModel deployed = export_model(model, {}).model;
  for (const Node& node : deployed.graph.nodes) {
    CHECK(!std::holds_alternative<BatchNorm>(node.op));
    CHECK(!std::holds_alternative<Dropout>(node.op));
  }
  CHECK(deployed.graph.nodes.size() == 6);
  CHECK(parse_model_file(serialize_model_file(deployed), "m") == deployed);
}

TEST_CASE("weights are stored sparse where that is smaller and dense elsewhere") {
  Random random(10);
  Model model = random_model(chain(1), random);
  add_random_mask(model, "conv1", 1, 0.98, random);
  add_random_mask(model, "conv2", 8, 0.1, random);
  const DeployedModel deployed = export_model(model, {ValueForm::f16, true}).model;
  CHECK(std::holds_alternative<DenseWeight>(deployed.weights.at("conv1.weight")));
  REQUIRE(std::holds_alternative<CsrWeight>(deployed.weights.at("conv2.weight")));
  const auto& csr = std::get<CsrWeight>(deployed.weights.at("conv2.weight"));
  CHECK(csr.vector == 8);
  CHECK(csr.values.encoding == Encoding::f16);
  CHECK(find_defect(csr).empty());
}

TEST_CASE("codes of a quantized weight are carried over bit by bit") {
  Random random(11);
  Model model = random_model(chain(1), random);
  add_random_mask(model, "conv2", 1, 0.2, random);
  const Tensor weight = model.tensors.at("conv2.weight");
  Tensor codes(DataType::u8, weight.shape());
  std::vector<Half> codebook(16);
  for (int i = 1; i < 16; ++i)
    codebook[static_cast<std::size_t>(i)] = to_half(0.1f * static_cast<float>(i) - 0.75f);
  for (std::size_t i = 0; i < weight.values<float>().size(); ++i) {
    const bool is_kept = weight.values<float>()[i] != 0;
    codes.values<std::uint8_t>()[i] =
        is_kept ? static_cast<std::uint8_t>(random.between(1, 15)) : 0;
  }
  model.tensors.erase("conv2.weight");
  model.tensors["conv2.weight.codes"] = codes;
  model.tensors["conv2.weight.codebook"] = Tensor::from<Half>({16}, codebook);
  const DeployedModel deployed = export_model(model, {}).model;
  const auto& csr = std::get<CsrWeight>(deployed.weights.at("conv2.weight"));
  CHECK(csr.values.encoding == Encoding::codebook4);
  const Tensor expected = weight_of(model, "conv2");
  CHECK(to_dense(csr) ==
        std::vector<float>(expected.values<float>().begin(), expected.values<float>().end()));
}

TEST_CASE("weights that are no numbers, or none as half floats, are refused by name") {
  Random random(13);
  const auto refusal = [](const Model& model, ValueForm form) {
    return message_of([&] { export_model(model, {form, true, "a.safetensors"}); });
  };
  Model model = random_model(chain(1), random);
  model.tensors.at("conv2.weight").values<float>()[3] = 70000.0f;
  CHECK(refusal(model, ValueForm::automatic) == "");
  CHECK(refusal(model, ValueForm::f32) == "");
  CHECK(refusal(model, ValueForm::f16) ==
        "a.safetensors: tensor 'conv2.weight': element 3 is 70000, expected at most 65504 in "
        "magnitude, the largest number of fp16; export it with --values f32");
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    model.tensors.at("fc.bias").values<float>()[1] = value;
    CHECK(error_of([&] { export_model(model, {}); }) == ErrorCode::bad_file);
    CHECK(refusal(model, ValueForm::automatic).find("'fc.bias'") != std::string::npos);
  }
}

TEST_CASE("damaged models and unknown value forms are refused") {
  Random random(12);
  Model model = random_model(chain(1), random);
  model.tensors.erase("fc.bias");
  CHECK(error_of([&] { export_model(model, {}); }) == ErrorCode::bad_file);
  CHECK(message_of([] { value_form_from("fp16"); }).find("f16") != std::string::npos);
}

}  // namespace
}  // namespace winnow
