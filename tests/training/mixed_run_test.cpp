// Runs of prune whose layers have granularities of their own.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "prune/timing/time_table.h"
#include "prune/training/trainability.h"
#include "tests/training/run_bench.h"
#include "tests/training/time_run.h"

namespace winnow {
namespace {

using Json = nlohmann::json;

// Vectors of 8 are ten times as fast as elements in the convolution, elements in the linear layer.
Json mixed_table() {
  Json table = table_of_times();
  Json& layers = table["batches"][0]["layers"];
  layers[0]["granularities"] = {time_curve(1, 3.0, 4.0), time_curve(8, 0.3, 1.0)};
  layers[1]["granularities"] = {time_curve(1, 0.1, 0.5), time_curve(8, 1.5, 2.0)};
  return table;
}

RunConfig mixed_run(const Bench& bench, const std::string& run, Method method) {
  RunConfig config = time_run(bench, run, mixed_table());
  config.stage.vector = kMixed;
  config.evolution.target_speedup = 3.0;
  config.method = {.method = method, .allocation = Allocation::least_loss, .rounds = 4};
  return config;
}

}  // namespace

TEST_CASE("each layer gets its granularity, with every method, and a stopped run keeps it") {
  for (const Method method : {Method::evolutionary, Method::magnitude, Method::lottery}) {
    CAPTURE(to_string(method));
    const Bench bench;
    const PruneSummary summary = run_prune(mixed_run(bench, "whole", method), {.is_quiet = true});
    CHECK(summary.target_met);
    const Json json = Json::parse(summary.json);
    CHECK(json["granularity"] == "mixed");
    CHECK(json["layers"][0]["granularity"] == "vector8");
    CHECK(json["layers"][1]["granularity"] == "element");
    const Model pruned = bench.pruned("whole");
    CHECK(pruned.mask_vector == std::map<std::string, int>{{"conv", 8}, {"linear", 1}});
    CHECK(pruned.tensors.at("conv.weight.mask").shape() == Shape{1, 1, 3, 3});
    CHECK(pruned.tensors.at("linear.weight.mask").shape() == Shape{4, 128});

    const Json line = first_of(bench.metrics("whole"), "granularity");
    CHECK(line["granularities"] == Json{{"conv", "vector8"}, {"linear", "element"}});
    CHECK(line["predicted_ms"].get<double>() <= 3.25 / 3);
    CHECK(read_text_file(bench.folder("whole") + "/report.html").find("conv, vector8") !=
          std::string::npos);

    for (const std::int64_t kill : {17, 23, 40}) {
      const std::string run = "kill" + std::to_string(kill);
      std::int64_t asked = 0;
      const auto die = [&]() -> bool {
        if (++asked >= kill) fail(ErrorCode::internal, "killed");
        return false;
      };
      RunConfig often = mixed_run(bench, run, method);
      often.checkpoint_seconds = 1e-9;
      CHECK(error_of([&] { run_prune(often, {.is_quiet = true, .should_stop = die}); }) ==
            ErrorCode::internal);
      run_prune(mixed_run(bench, run, method), {.use = FolderUse::resume, .is_quiet = true});
      CHECK(bench.metrics(run) == bench.metrics("whole"));
      CHECK((bench.pruned(run).tensors == bench.pruned("whole").tensors));
    }
  }
}

TEST_CASE("a dry run tells the granularities where the weights are known") {
  const Bench bench;
  RunConfig config = mixed_run(bench, "a", Method::magnitude);
  CHECK(describe_run(config, {.is_quiet = true})
            .find("granularity of each layer: chosen by the dense network's weights\n") !=
        std::string::npos);
  run_prune(config, {.is_quiet = true});
  RunConfig again = mixed_run(bench, "b", Method::magnitude);
  again.model.graph.reset();
  again.model.weights = bench.folder("a") + "/dense.safetensors";
  again.train.epochs = 0;
  again.stage.start = Start::weights;
  const std::string text = describe_run(again, {.is_quiet = true});
  CHECK(text.find("granularity of each layer:\n  conv: vector8, sparsity 0.") != std::string::npos);
  CHECK(text.find("\n  linear: element, sparsity ") != std::string::npos);
}

TEST_CASE("mixed granularities want a table that has them") {
  const Bench bench;
  Json table = mixed_table();
  table["batches"][0]["network"].erase("mixed");
  RunConfig config = mixed_run(bench, "a", Method::magnitude);
  write_file_atomically(config.time_table, table.dump());
  CHECK(error_of([&] { with_times(config); }) == ErrorCode::usage);
  CHECK(message_of([&] { with_times(config); }).find("has no times of mixed granularities") !=
        std::string::npos);
}

}  // namespace winnow
