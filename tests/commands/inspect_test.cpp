// `runtime inspect`: what it says of a model whose content is known.
#include "tests/commands/desk.h"

namespace winnow {
namespace {

using Cells = std::vector<std::string>;

}  // namespace

TEST_CASE("inspect lists nodes, weights and metadata as they are in the file") {
  const Desk desk;
  const Outcome outcome = desk.run("inspect", "--quiet");
  CHECK(outcome.status == 0);
  const std::string& text = outcome.output;
  INFO(text);
  CHECK(cells_of(text, "input") == Cells{"input", "input", "[1, 1, 3, 3]"});
  CHECK(cells_of(text, "conv") == Cells{"conv", "conv2d", "[1, 2, 2, 2]", "input"});
  CHECK(cells_of(text, "fc") == Cells{"fc", "linear", "[1, 2]", "flat"});
  // 3 of 8 weights are kept; rows of 2 with one pad. Codes of 4 bits and a codebook of 4 halves.
  const Cells conv = cells_of(text, "conv.weight");
  REQUIRE(conv.size() == 9);
  CHECK(Cells(conv.begin(), conv.begin() + 5) ==
        Cells{"conv.weight", "csr vector 1", "codebook4", "37.50", "25.00"});
  CHECK(conv[7] == "32");
  CHECK(cells_of(text, "fc.weight") ==
        Cells{"fc.weight", "dense", "fixed8", "100.00", "0.00", "0", "16", "64", "4.0x"});
  CHECK(cells_of(text, "seed") == Cells{"seed", "7"});
  CHECK(text.find("m.wnw: net, 2 classes\n") != std::string::npos);
}

TEST_CASE("the JSON of inspect has the numbers of the file") {
  const Desk desk;
  const nlohmann::json json = desk.json_of("inspect");
  CHECK(json["command"] == "inspect");
  CHECK(!json["version"].get<std::string>().empty());
  CHECK(json["graph"] == "net");
  CHECK(json["classes"] == nlohmann::json{"no", "yes"});
  CHECK(json["metadata"]["seed"] == "7");
  REQUIRE(json["nodes"].size() == 5);
  const nlohmann::json& node = json["nodes"][1];
  CHECK(node["name"] == "conv");
  CHECK(node["op"] == "conv2d");
  CHECK(node["inputs"] == nlohmann::json{"input"});
  CHECK(node["output_shape"] == nlohmann::json{2, 2, 2});
  CHECK(node["dense_macs"] == 32);  // 8 outputs of 4 weights each
  CHECK(node["weight_sparsity"] == 0.625);
  CHECK(!json["nodes"][2].contains("weight_sparsity"));
  REQUIRE(json["weights"].size() == 4);
  const nlohmann::json& conv = json["weights"][1];
  CHECK(conv["name"] == "conv.weight");
  CHECK(conv["form"] == "csr vector 1");
  CHECK(conv["encoding"] == "codebook4");
  CHECK(conv["channel_scales"] == 0);
  CHECK(conv["shape"] == nlohmann::json{2, 4});
  CHECK(conv["density"] == 0.375);
  CHECK(conv["padding"] == 0.25);
  CHECK(conv["dense_f32_bytes"] == 32);
  const std::vector<StoredSize> sizes = stored_sizes(golden_model());
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(json["weights"][i]["name"] == sizes[i].name);
    CHECK(json["weights"][i]["index_bytes"] == sizes[i].index_bytes);
    CHECK(json["weights"][i]["value_bytes"] == sizes[i].value_bytes);
  }
  CHECK(json["weights"][3]["value_bytes"] == 16);
}

TEST_CASE("inspect tells channel scales") {
  const Desk desk(golden_scaled_model());
  CHECK(cells_of(desk.run("inspect").output, "fc.weight")[2] == "codebook4 scaled");
  CHECK(desk.json_of("inspect")["weights"][0]["channel_scales"] == 2);
}

TEST_CASE("the longest name stands whole in its table") {
  DeployedModel model = golden_model();
  const std::string name(128, 'n');
  for (Node& node : model.graph.nodes) {
    if (node.name == "relu") node.name = name;
    if (node.name == "flat") node.inputs = {name};
  }
  const Desk desk(model);
  CHECK(cells_of(desk.run("inspect").output, "flat") == Cells{"flat", "flatten", "[1, 8]", name});
  CHECK(cells_of(desk.run("inspect").output, name).size() == 4);
}

}  // namespace winnow
