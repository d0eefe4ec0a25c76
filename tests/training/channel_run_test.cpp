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

TEST_CASE("a run goes on with the smaller network that pruned channels leave") {
  const Bench bench;
  RunConfig first = bench.config("channels");
  first.stage.vector = kWholeChannels;
  const PruneSummary channels = run_prune(first, {.is_quiet = true});

  RunConfig second = bench.config("elements");
  second.model.weights = bench.folder("channels") + "/pruned.safetensors";
  second.model.removes_zero_channels = true;
  second.train.epochs = 0;
  second.stage.start = Start::weights;
  const PruneSummary elements = run_prune(second, {.is_quiet = true});
  CHECK(elements.dense_accuracy == doctest::Approx(channels.pruned_accuracy));
  CHECK(elements.target_met);
  const Model pruned = bench.pruned("elements");
  CHECK(std::get<Conv>(pruned.graph.nodes[1].op).out_channels == 3);
  CHECK(pruned.tensors.at("linear.weight").shape() == Shape{4, 48});
  CHECK(sparsity(pruned) == doctest::Approx(0.6).epsilon(0.05));

  second.output = bench.folder("other");
  second.model.graph->nodes[1].name = "first";
  second.model.graph->nodes[2].inputs = {"first"};
  CHECK(message_of([&] {
          run_prune(second, {.is_quiet = true});
        }).find("node 2 is conv2d 'conv' in the file, conv2d 'first' here") != std::string::npos);
}

}  // namespace
}  // namespace winnow
