// `runtime verify`: what it says of each layer.
#include "tests/commands/desk.h"

namespace winnow {

TEST_CASE("verify compares every layer and says how far each is off") {
  const Desk desk;
  const nlohmann::json json = desk.json_of("verify", "--device cpu --batch 3 --quiet");
  CHECK(json["command"] == "verify");
  CHECK(!json["version"].get<std::string>().empty());
  CHECK(json["device"].get<std::string>().starts_with("cpu ("));
  CHECK(json["tolerance"] == 1e-5);
  REQUIRE(json["layers"].size() == 3);
  const char* const names[] = {"conv", "flat", "fc"};
  const char* const ops[] = {"conv2d", "flatten", "linear"};
  for (std::size_t i = 0; i < 3; ++i) {
    const nlohmann::json& layer = json["layers"][i];
    CHECK(layer["name"] == names[i]);
    CHECK(layer["op"] == ops[i]);
    CHECK(layer["layers_compared"] == 1);
    CHECK(layer["relative_error"] >= 0.0);
    CHECK(layer["relative_error"] <= 1e-5);
    CHECK(layer["largest_error"] <= 1e-4);
    CHECK(!layer["kernel"].get<std::string>().empty());
  }
  CHECK(json["layers"][1]["relative_error"] == 0.0);  // flatten moves nothing
}

TEST_CASE("the table of verify has a row for each layer and counts them") {
  const Desk desk;
  const Outcome outcome = desk.run("verify", "--device cpu --quiet");
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  CHECK(cells_of(outcome.output, "layer") ==
        std::vector<std::string>{"layer", "op", "relative", "largest", "kernel"});
  const std::vector<std::string> flat = cells_of(outcome.output, "flat");
  REQUIRE(flat.size() == 5);
  CHECK(flat[1] == "flatten");
  CHECK(flat[2] == "0.00e+00");
  CHECK(outcome.output.find("3 layers agree with the reference\n") != std::string::npos);
  CHECK(outcome.output.find("WRONG") == std::string::npos);
}

}  // namespace winnow
