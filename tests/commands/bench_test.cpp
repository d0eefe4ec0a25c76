// `runtime bench`: its numbers, and that they fit each other.
#include <filesystem>

#include "runtime/base/number_text.h"
#include "runtime/cli/table.h"
#include "tests/commands/desk.h"
#include "tests/model/graphs.h"

namespace winnow {
namespace {

const std::string kQuick = "--device cpu --repeats 8 --layer-repeats 3 --warm-up 1 ";

void check_plan(const nlohmann::json& plan, double batch) {
  const nlohmann::json& ms = plan["network_ms"];
  CHECK(ms["min"] > 0.0);
  CHECK(ms["min"] <= ms["p10"]);
  CHECK(ms["p10"] <= ms["median"]);
  CHECK(ms["median"] <= ms["p90"]);
  CHECK(ms["p90"] <= ms["max"]);
  CHECK(ms["count"] > 0);
  // Medians are rounded to nanoseconds, and this network takes a few hundred.
  CHECK(plan["samples_per_second"].get<double>() ==
        doctest::Approx(1e3 * batch / ms["median"].get<double>()).epsilon(0.01));
  CHECK(plan["samples_per_second_with_copies"] > 0.0);
  REQUIRE(plan["layers"].size() == 3);
  CHECK(plan["layers"][0]["name"] == "conv");
  CHECK(plan["layers"][0]["output_shape"] == nlohmann::json{batch, 2, 2, 2});
  CHECK(plan["layers"][0]["dense_macs"] == 32 * batch);  // 8 outputs of 4 weights each
  CHECK(plan["layers"][0]["weight_sparsity"] == 0.625);
  CHECK(plan["layers"][2]["dense_macs"] == 16 * batch);
  CHECK(plan["layers"][2]["weight_sparsity"] == 0.0625);  // of 16 weights one is 0
  for (const nlohmann::json& layer : plan["layers"]) CHECK(layer["ms"]["median"] >= 0.0);
}

}  // namespace

TEST_CASE("bench times three plans for each batch size") {
  const Desk desk;
  const nlohmann::json json = desk.json_of("bench", kQuick + "--batch 1,5");
  REQUIRE(json.size() == 2);
  for (const nlohmann::json& one : json) {
    const double batch = one["batch"].get<double>();
    CHECK(one["command"] == "bench");
    CHECK(!one["version"].get<std::string>().empty());
    CHECK(one["device"].get<std::string>().starts_with("cpu ("));
    CHECK(one["precision"] == "f32");
    CHECK(one["repeats"] == 8);
    CHECK(one["warm_up"] == 1);
    for (const char* plan : {"dense", "sparse", "chosen"}) check_plan(one[plan], batch);
    CHECK(one["dense"]["layers"][0]["family"] == "dense");
    CHECK(one["sparse"]["layers"][0]["family"] == "direct");
    CHECK(one["chosen"]["layers"][0]["candidates"].size() >= 2);
  }
  CHECK(json[0]["batch"] == 1);
  CHECK(json[1]["batch"] == 5);
}

TEST_CASE("bench times another model in the same turns") {
  const Desk desk;
  std::filesystem::copy_file(desk.model(), desk.file("other.wnw"));
  const std::string other = desk.file("other.wnw");
  const nlohmann::json json = desk.json_of("bench", kQuick + "--batch 2 --against " + other)[0];
  check_plan(json["against"], 2);
  CHECK(json["against_model"] == other);
  CHECK(json["times_as_fast"].get<double>() ==
        doctest::Approx(json["against"]["network_ms"]["median"].get<double>() /
                        json["chosen"]["network_ms"]["median"].get<double>())
            .epsilon(0.02));
}

TEST_CASE("bench refuses another model of another input") {
  const Desk desk;
  DeployedModel wide;
  wide.graph = graph_of({1, 9, 9}, {{"flat", Flatten{}, {}}, {"fc", Linear{81, 2, false}, {}}});
  wide.weights["fc.weight"] = DenseWeight{{2, 81}, encode_f32(std::vector<float>(162, 1.0f))};
  write_model_file(desk.file("other.wnw"), wide);
  const Outcome outcome = desk.run("bench", kQuick + "--against " + desk.file("other.wnw"));
  CHECK(outcome.status == 2);
  INFO(outcome.output);
  CHECK(outcome.output.find("other.wnw: of [1, 1, 9, 9], expected the same input as the model's") !=
        std::string::npos);
}

TEST_CASE("the tables of bench show the numbers of its JSON") {
  const Desk desk;
  const Outcome outcome =
      desk.run("bench", kQuick + "--batch 4 --quiet --json " + desk.file("bench.json"));
  REQUIRE(outcome.status == 0);
  INFO(outcome.output);
  const auto json = nlohmann::json::parse(read_text_file(desk.file("bench.json")))[0];
  const std::vector<std::string> conv = cells_of(outcome.output, "conv");
  REQUIRE(conv.size() == 7);
  CHECK(conv[2] == "62.5");
  const char* const plans[] = {"dense", "sparse", "chosen"};
  for (std::size_t i = 0; i < 3; ++i) {
    const nlohmann::json& plan = json[plans[i]];
    CHECK(conv[3 + i] == fixed(plan["layers"][0]["ms"]["median"].get<double>(), 4));
    const std::vector<std::string> total = cells_of(outcome.output, plans[i]);
    REQUIRE(total.size() == 7);
    CHECK(total[1] == fixed(plan["network_ms"]["median"].get<double>(), 4));
    CHECK(total[4] == fixed(plan["samples_per_second"].get<double>(), 0));
    CHECK(total[5] == fixed(plan["samples_per_second_with_copies"].get<double>(), 0));
  }
  CHECK(cells_of(outcome.output, "dense")[6] == "1.00");
}

TEST_CASE("bench shows progress on stderr alone, and nothing with --quiet") {
  const Desk desk;
  const std::string bench = kQuick + "--batch 4 ";
  const std::string progress = desk.run("bench", bench + ">/dev/null").output;
  for (const char* part : {"bench: read weight 4/4", "bench: batch 4: plan step 6/6",
                           "bench: batch 4: time round 15/15"}) {
    CAPTURE(part);
    CHECK(progress.find(part) != std::string::npos);
  }
  CHECK(desk.run("bench", bench + "2>/dev/null").output.find("time round") == std::string::npos);
  CHECK(desk.run("bench", bench + "--quiet >/dev/null").output == "");
}

TEST_CASE("bench refuses several streams on a CPU") {
  const Desk desk;
  const Outcome outcome = desk.run("bench", kQuick + "--quiet --streams 2");
  CHECK(outcome.status == 2);
  CHECK(outcome.output.find("sharing needs a GPU, the session's device is cpu (") !=
        std::string::npos);
}

TEST_CASE("bench runs all choices of kernels and refuses to be given one") {
  const Desk desk;
  const Outcome outcome = desk.run("bench", kQuick + "--choice dense");
  CHECK(outcome.status == 2);
  CHECK(outcome.output.find("--choice") != std::string::npos);
  CHECK(lines_in(outcome.output) == 1);
}

}  // namespace winnow
