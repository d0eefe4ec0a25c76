#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/training/run_bench.h"

namespace winnow {
namespace {

// What run and dry run refuse alike, before anything is written.
struct Mistake {
  const char* what;
  std::function<void(RunConfig&)> make;
  ErrorCode code;
  const char* message;
};

const std::vector<Mistake> kMistakes = {
    {"an excluded layer that does not exist", [](RunConfig& c) { c.evolution.exclude = {"cnov"}; },
     ErrorCode::usage, "prune.exclude: no prunable layer 'cnov'; did you mean 'conv'?"},
    {"an excluded node without weights", [](RunConfig& c) { c.evolution.exclude = {"relu"}; },
     ErrorCode::usage, "prune.exclude: no prunable layer 'relu'"},
    {"limits of a layer that does not exist",
     [](RunConfig& c) {
       c.evolution.layer_limits = {{"liner", 0.1, 0.5}};
     },
     ErrorCode::usage, "prune.layer_limits: no prunable layer 'liner'; did you mean 'linear'?"},
    {"nothing left to prune",
     [](RunConfig& c) {
       c.evolution.exclude = {"conv", "linear"};
     },
     ErrorCode::usage, "no prunable layer is left"},
    {"a device that is not there", [](RunConfig& c) { c.device = "cuda:97"; }, ErrorCode::device,
     "device: "},
    {"a device that is none", [](RunConfig& c) { c.device = "gpu"; }, ErrorCode::usage, "'gpu'"},
    {"a folder below a file",
     [](RunConfig& c) { c.output = c.data.path + "/train-labels-idx1-ubyte/run"; },
     ErrorCode::usage, "cannot be written"},
    {"no images to select by", [](RunConfig& c) { c.data.validation = 0; }, ErrorCode::usage,
     "data.validation: found 0"},
    {"a crop larger than the images", [](RunConfig& c) { c.augment.crop_padding = 8; },
     ErrorCode::usage, "crop_padding"},
    {"classes that the network does not have",
     [](RunConfig& c) { std::get<Linear>(c.model.graph->nodes.back().op).out_features = 5; },
     ErrorCode::usage, "4 classes need"},
    {"a class whose name is no text",
     [](RunConfig& c) { std::ofstream(c.data.path + "/classes.txt") << "a\nb\nc\n\xe4\n"; },
     ErrorCode::usage, "'\\xe4' is not UTF-8"},
};

TEST_CASE("mistakes are refused before training and before an earlier run is removed") {
  for (const Mistake& mistake : kMistakes) {
    CAPTURE(mistake.what);
    const Bench bench;
    RunConfig config = bench.config("run");
    std::filesystem::create_directories(bench.folder("run"));
    for (const char* name : {"config.yaml", "prune.json", "bench.json"}) {
      std::ofstream(bench.folder("run") + "/" + name) << "{}";
    }
    mistake.make(config);
    const auto stop = []() -> bool { fail(ErrorCode::internal, "it trains"); };
    const auto run = [&] {
      run_prune(config, {.use = FolderUse::overwrite, .is_quiet = true, .should_stop = stop});
    };
    const auto dry_run = [&] { describe_run(config, FolderUse::overwrite); };
    CHECK(error_of(run) == mistake.code);
    CHECK(error_of(dry_run) == mistake.code);
    CHECK(message_of(run).find(mistake.message) != std::string::npos);
    CHECK(message_of(dry_run) == message_of(run));
    for (const char* name : {"config.yaml", "prune.json", "bench.json"}) {
      CHECK(read_text_file(bench.folder("run") + "/" + name) == "{}");
    }
  }
}

}  // namespace
}  // namespace winnow
