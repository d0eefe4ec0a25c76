#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "runtime/bench/compare.h"
#include "runtime/plan/describe.h"

namespace winnow {
namespace {

PlanTiming timing(double ms) {
  LayerPlan layer;
  layer.name = "conv1";
  layer.op = "conv2d";
  layer.candidates = {{"dense", "b", 0.5}, {"dense", "a", 0.75}, {"direct", "c", 1}};
  layer.kernel = layer.candidates[0].kernel;
  PlanTiming plan;
  plan.layers = {layer};
  plan.layer_ms = {statistics_of({ms})};
  plan.network_ms = statistics_of({ms, 2 * ms, 3 * ms});
  plan.copied_per_second = 900.4;
  return plan;
}

Comparison comparison() {
  Comparison result;
  result.device = "cpu";
  result.batch = 4;
  result.dense = timing(2);
  result.sparse.error = "no kernel";
  result.chosen = timing(1.0000004);
  return result;
}

TEST_CASE("a comparison as JSON has percentiles in nanoseconds, and no samples") {
  CompareOptions options;
  options.session.use_tf32 = true;
  const auto json = nlohmann::json::parse(comparison_json(comparison(), options));
  CHECK(json["tf32"] == true);
  CHECK(json["all_plans"] == false);
  CHECK(json["sparse"]["error"] == "no kernel");
  CHECK(json["dense"]["samples_per_second"] == 1000);
  CHECK(json["dense"]["samples_per_second_with_copies"] == 900);
  const auto& ms = json["chosen"]["network_ms"];
  CHECK(ms["count"] == 3);
  CHECK(ms["min"] == 1.0);
  CHECK(ms["median"] == 2.000001);
  CHECK(ms["max"] == 3.000001);
  CHECK(ms["p10"] == 1.2);
  CHECK(ms["p90"] == 2.800001);
  CHECK(ms.size() == 6);
}

TEST_CASE("a comparison tells which networks were timed as wholes, and which of them runs") {
  Comparison one = comparison();
  CHECK(comparison_table(one).find("as a whole") == std::string::npos);
  CHECK(!nlohmann::json::parse(comparison_json(one, {}))["chosen"].contains("networks"));
  one.chosen.networks = {{"dense", 0.31, false}, {"fastest by layer", 0.25, true}};
  CHECK(comparison_table(one).ends_with(
      "\nas a whole: dense 0.3100 ms, fastest by layer 0.2500 ms (chosen)\n"));
  const auto json = nlohmann::json::parse(comparison_json(one, {}))["chosen"]["networks"];
  REQUIRE(json.size() == 2);
  CHECK(json[0] == nlohmann::json{{"name", "dense"}, {"ms", 0.31}, {"chosen", false}});
  CHECK(json[1]["chosen"] == true);
}

TEST_CASE("a comparison with another model says how many times as fast the chosen plan is") {
  Comparison one = comparison();
  CHECK(!nlohmann::json::parse(comparison_json(one, {})).contains("against"));
  one.against = timing(5);
  one.against_name = "dense.wnw";
  const auto json = nlohmann::json::parse(comparison_json(one, {}));
  CHECK(json["against_model"] == "dense.wnw");
  CHECK(json["against"]["network_ms"]["median"] == 10.0);
  CHECK(json["times_as_fast"] == 5.0);
  CHECK(comparison_table(one).ends_with("\nchosen is 5.00 times as fast as dense.wnw\n"));
  CHECK(comparison_table(one).find("\nagainst ") != std::string::npos);
  CHECK(comparison_table(one, TableForm::csv).ends_with("cpu,4,against,,,,,10.0000,dense.wnw\n"));
}

TEST_CASE("a comparison as lines of values, and as Markdown") {
  const std::string titles =
      "device,batch,layer,op,sparse %,dense ms,sparse ms,chosen ms,chosen kernel\n";
  const std::string rows =
      "cpu,4,conv1,conv2d,0.0,2.0000,-,1.0000,b\ncpu,4,network,,,4.0000,-,2.0000,\n";
  CHECK(comparison_table(comparison(), TableForm::csv) == titles + rows);
  CHECK(comparison_table(comparison(), TableForm::csv, false) == rows);
  const std::string markdown = comparison_table(comparison(), TableForm::markdown);
  CHECK(markdown.starts_with("device cpu, batch 4\n\n| layer | op |"));
  CHECK(markdown.find("\n| conv1 | conv2d | 0.0 | 2.0000 | - | 1.0000 | b |\n\n| plan |") !=
        std::string::npos);
  CHECK(markdown.ends_with("\n\nsparse: not available: no kernel\n"));
}

TEST_CASE("a comparison as JSON names the fastest kernel of each family, or all") {
  CompareOptions options;
  const auto kernels = [&] {
    const auto json = nlohmann::json::parse(comparison_json(comparison(), options));
    const auto& layer = json["chosen"]["layers"][0];
    CHECK(layer["kernels_timed"] == 3);
    std::string names;
    for (const auto& candidate : layer["candidates"]) {
      names += candidate["kernel"].get<std::string>();
    }
    return names;
  };
  CHECK(kernels() == "bc");
  options.all_candidates = true;
  CHECK(kernels() == "bac");
}

TEST_CASE(
    "a kernel without a time of its own is listed where it runs, or its family has no other") {
  Comparison one = comparison();
  LayerPlan& layer = one.chosen.layers[0];
  layer.candidates = {{"dense", "cudnn, in the launch of sum", 0},
                      {"linear_stack", "linear_stack, in the launch of fc4", 0},
                      {"dense", "a", 0.5},
                      {"dense", "b", 0.75}};
  const auto kernels = [&](const std::string& chosen) {
    layer.kernel = chosen;
    std::vector<std::string> names;
    const auto json = nlohmann::json::parse(comparison_json(one, {}));
    for (const auto& candidate : json["chosen"]["layers"][0]["candidates"]) {
      names.push_back(candidate["kernel"].get<std::string>());
    }
    return names;
  };
  using Names = std::vector<std::string>;
  const std::string sum = "cudnn, in the launch of sum";
  const std::string stack = "linear_stack, in the launch of fc4";
  CHECK(kernels("b") == Names{stack, "a"});
  CHECK(kernels(sum) == Names{sum, stack, "a"});
  CHECK(kernels(stack) == Names{stack, "a"});
}

TEST_CASE("kernels that were rejected come last and are named with the reason, without a time") {
  Comparison one = comparison();
  std::vector<CandidateTiming>& candidates = one.chosen.layers[0].candidates;
  candidates.insert(candidates.begin(), {"dense", "wrong", 0, 0, 0, "is off by 2.0e-02"});
  sort_by_time(candidates);
  CHECK(candidates.front().kernel == "b");
  CHECK(candidates.back().kernel == "wrong");
  const auto json = nlohmann::json::parse(comparison_json(one, {}));
  const auto& listed = json["chosen"]["layers"][0]["candidates"];
  REQUIRE(listed.size() == 3);
  CHECK(listed[1]["kernel"] == "c");
  CHECK(listed[2]["kernel"] == "wrong");
  CHECK(listed[2]["rejected"] == "is off by 2.0e-02");
  CHECK(!listed[2].contains("ms"));
  CHECK(listed[0].contains("ms"));
}

}  // namespace
}  // namespace winnow
