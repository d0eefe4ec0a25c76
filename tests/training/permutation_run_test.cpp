// Runs of prune whose channels are brought into another order first.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/training/run_bench.h"

namespace winnow {
namespace {

using Json = nlohmann::json;

// 24 channels in vectors of 8.
void widen(RunConfig& config) {
  for (Node& node : config.model.graph->nodes) {
    if (auto* conv = std::get_if<Conv>(&node.op)) conv->out_channels = 24;
    if (auto* norm = std::get_if<BatchNorm>(&node.op)) norm->channels = 24;
    if (auto* linear = std::get_if<Linear>(&node.op)) linear->in_features = 24 * 16;
  }
  config.stage.vector = 8;
  config.evolution.exclude = {"linear"};
}

RunConfig permuting(const Bench& bench, const std::string& run) {
  RunConfig config = bench.config(run);
  config.stage.permutes_channels = true;
  config.method.method = Method::magnitude;
  return config;
}

Json line_of(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (line.find("\"stage\":\"permutation\"") != std::string::npos) {
      return Json::parse(line.back() == '}' ? line : line + "}");
    }
  }
  return {};
}

}  // namespace

TEST_CASE("a run may permute channels before it prunes, and a stopped one goes on the same") {
  const Bench bench(widen);
  run_prune(permuting(bench, "whole"), {.is_quiet = true});
  const Json line = line_of(bench.metrics("whole"));
  REQUIRE(line.contains("kept_before"));
  CHECK_FALSE(line["kept_before"].contains("linear"));
  CHECK(line["kept_after"]["conv"] > line["kept_before"]["conv"]);
  CHECK(bench.pruned("whole").mask_vector == std::map<std::string, int>{{"conv", 8}});

  RunConfig plain = permuting(bench, "plain");
  plain.stage.permutes_channels = false;
  run_prune(plain, {.is_quiet = true});
  CHECK(line_of(bench.metrics("plain")).is_null());
  const Model dense = load_model(bench.folder("whole") + "/dense.safetensors");
  CHECK((dense.tensors == load_model(bench.folder("plain") + "/dense.safetensors").tensors));

  for (const std::int64_t kill : {17, 23, 40}) {
    const std::string run = "kill" + std::to_string(kill);
    std::int64_t asked = 0;
    const auto die = [&]() -> bool {
      if (++asked >= kill) fail(ErrorCode::internal, "killed");
      return false;
    };
    RunConfig often = permuting(bench, run);
    often.checkpoint_seconds = 1e-9;
    CHECK(error_of([&] { run_prune(often, {.is_quiet = true, .should_stop = die}); }) ==
          ErrorCode::internal);
    run_prune(permuting(bench, run), {.use = FolderUse::resume, .is_quiet = true});
    CHECK(bench.metrics(run) == bench.metrics("whole"));
    CHECK((bench.pruned(run).tensors == bench.pruned("whole").tensors));
  }
}

TEST_CASE("whatever method prunes may follow a permutation") {
  const Bench bench(widen);
  for (const Method method : {Method::evolutionary, Method::lottery}) {
    CAPTURE(to_string(method));
    RunConfig config = permuting(bench, std::string(to_string(method)));
    config.method = {.method = method, .rounds = 4};
    const PruneSummary summary = run_prune(config, {.is_quiet = true});
    CHECK(summary.target_met);
    CHECK_FALSE(line_of(bench.metrics(std::string(to_string(method)))).is_null());
  }
}

}  // namespace winnow
