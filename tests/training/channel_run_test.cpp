// Runs of prune with masks of whole channels.
#include <doctest/doctest.h>

#include "export/export_model.h"
#include "prune/training/trainability.h"
#include "tests/training/run_bench.h"

namespace winnow {
namespace {

TEST_CASE("a dry run tells which layers have their channels in common") {
  const Bench bench([](RunConfig& config) {
    config.stage.vector = kWholeChannels;
    std::vector<Node>& nodes = config.model.graph->nodes;
    nodes.insert(nodes.begin() + 4, {"same", Conv{.in_channels = 8, .out_channels = 8}, {"relu"}});
    nodes.insert(nodes.begin() + 5, {"sum", Add{}, {"same", "relu"}});
    nodes[6].inputs = {"sum"};
  });
  const std::string text = describe_run(bench.config("run"), {.is_quiet = true});
  CHECK(text.find("\nchannels in common: conv, same\n") != std::string::npos);
}

TEST_CASE(
    "whole runs of every method drop channels, resume bit by bit, and start from their masks") {
  for (const Method method : {Method::evolutionary, Method::magnitude, Method::lottery}) {
    CAPTURE(to_string(method));
    const Bench bench([&](RunConfig& config) {
      config.stage.vector = kWholeChannels;
      config.method.method = method;
      config.method.rounds = 4;
      config.evolution.offspring = 3;
      config.evolution.judge_images = 64;
    });
    const PruneSummary summary = run_prune(bench.config("whole"), {.is_quiet = true});
    CHECK(summary.target_met);
    CHECK(summary.sparsity >= 0.6);
    CHECK(summary.json.find("\"granularity\": \"channel\"") != std::string::npos);
    const ExportedModel exported = export_model(bench.pruned("whole"), {});
    CHECK(std::get<Conv>(exported.model.graph.nodes[1].op).out_channels == 3);

    for (const std::int64_t kill : {17, 23, 40}) {
      const std::string run = "kill" + std::to_string(kill);
      bench.run_until_killed(run, kill);
      bench.resume(run);
      CHECK(bench.metrics(run) == bench.metrics("whole"));
      CHECK((bench.pruned(run).tensors == bench.pruned("whole").tensors));
    }

    for (const Masks masks : {Masks::file, Masks::from_zeros}) {
      RunConfig again = bench.config(masks == Masks::file ? "file" : "zeros");
      again.model.graph.reset();
      again.model.weights = bench.folder("whole") + "/pruned.safetensors";
      again.train.epochs = 0;
      again.stage.start = Start::weights;
      again.stage.masks = masks;
      run_prune(again, {.is_quiet = true});
      CHECK(sparsity(bench.pruned(masks == Masks::file ? "file" : "zeros")) >= 0.6);
    }
  }
}

}  // namespace
}  // namespace winnow
