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

// 24 channels are permuted, whatever prunes them then.
void permute(RunConfig& config) {
  widen(config);
  config.stage.permutes_channels = true;
  config.method.method = Method::magnitude;
}

}  // namespace

TEST_CASE("a run may permute channels before it prunes, and a stopped one goes on the same") {
  const Bench bench(permute);
  run_prune(bench.config("whole"), {.is_quiet = true});
  const Json line = first_of(bench.metrics("whole"), "permutation");
  REQUIRE(line.contains("kept_before"));
  CHECK_FALSE(line["kept_before"].contains("linear"));
  CHECK(line["kept_after"]["conv"] > line["kept_before"]["conv"]);
  CHECK(bench.pruned("whole").mask_vector == std::map<std::string, int>{{"conv", 8}});

  RunConfig plain = bench.config("plain");
  plain.stage.permutes_channels = false;
  run_prune(plain, {.is_quiet = true});
  CHECK(first_of(bench.metrics("plain"), "permutation").is_null());
  const Model dense = load_model(bench.folder("whole") + "/dense.safetensors");
  CHECK((dense.tensors == load_model(bench.folder("plain") + "/dense.safetensors").tensors));

  for (const std::int64_t kill : {17, 23, 40}) {
    const std::string run = "kill" + std::to_string(kill);
    bench.run_until_killed(run, kill);
    bench.resume(run);
    CHECK(bench.metrics(run) == bench.metrics("whole"));
    CHECK((bench.pruned(run).tensors == bench.pruned("whole").tensors));
  }
}

TEST_CASE("whatever method prunes may follow a permutation") {
  const Bench bench(permute);
  for (const Method method : {Method::evolutionary, Method::lottery}) {
    CAPTURE(to_string(method));
    const std::string run(to_string(method));
    RunConfig config = bench.config(run);
    config.method = {.method = method, .rounds = 4};
    const PruneSummary summary = run_prune(config, {.is_quiet = true});
    CHECK(summary.target_met);
    CHECK_FALSE(first_of(bench.metrics(run), "permutation").is_null());
  }
}

}  // namespace winnow
