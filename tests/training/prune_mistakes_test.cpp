#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "runtime/base/folder_lock.h"
#include "runtime/base/random.h"
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
    {"one value of a channel in a batch",
     [](RunConfig& c) {
       c.train.batch_size = 1;
       auto& nodes = c.model.graph->nodes;
       nodes.push_back({"last", BatchNorm{4}, {"linear"}});
     },
     ErrorCode::usage,
     "a.yaml:19:32: train.batch_size: found 1, but batch norm 'last' sees one value of each "
     "channel "
     "in an image, expected at least 2"},
    {"too many images to hold out", [](RunConfig& c) { c.data.validation = 320; }, ErrorCode::usage,
     "a.yaml:5:33: data.validation: found 320, expected less than 320"},
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
     "a.yaml:5:33: data.validation: found 0"},
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
    const auto dry_run = [&] { describe_run(config, {.use = FolderUse::overwrite}); };
    CHECK(error_of(run) == mistake.code);
    CHECK(error_of(dry_run) == mistake.code);
    CHECK(message_of(run).find(mistake.message) != std::string::npos);
    CHECK(message_of(dry_run) == message_of(run));
    for (const char* name : {"config.yaml", "prune.json", "bench.json"}) {
      CHECK(read_text_file(bench.folder("run") + "/" + name) == "{}");
    }
  }
}

// Of a run that is there.
void check_refused_alike(const RunConfig& config, ErrorCode code, const std::string& part) {
  const auto stop = []() -> bool { fail(ErrorCode::internal, "it trains"); };
  const PruneOptions options = {.use = FolderUse::resume, .is_quiet = true, .should_stop = stop};
  const auto run = [&] { run_prune(config, options); };
  const auto dry_run = [&] { describe_run(config, options); };
  CHECK(error_of(run) == code);
  CHECK(message_of(run).find(part) != std::string::npos);
  CHECK(error_of(dry_run) == code);
  CHECK(message_of(dry_run) == message_of(run));
}

TEST_CASE("a checkpoint with one bit changed is refused, whatever the bit") {
  const Bench bench;
  bench.run_until("run", 40, FolderUse::fresh);
  const std::string path = bench.folder("run") + "/checkpoint.safetensors";
  const std::string whole = read_text_file(path);
  const RunConfig config = bench.config("run");
  const auto dry_run = [&] { describe_run(config, {.use = FolderUse::resume, .is_quiet = true}); };
  Random random(31);
  for (int round = 0; round < 60; ++round) {
    std::string damaged = whole;
    const std::uint64_t at = round < 20 ? random.below(4000) : random.below(whole.size());
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.below(8)));
    write_file_atomically(path, damaged);
    CAPTURE(at);
    CHECK(error_of(dry_run) == ErrorCode::bad_file);
  }
  write_file_atomically(path, whole);
  CHECK_NOTHROW(dry_run());
}

TEST_CASE("a run that cannot be resumed is refused by a dry run too") {
  const Bench bench;
  bench.run_until("run", 40, FolderUse::fresh);
  const std::string run = bench.folder("run");
  RunConfig config = bench.config("run");
  CHECK_NOTHROW(describe_run(config, {.use = FolderUse::resume, .is_quiet = true}));
  SUBCASE("another program has the folder") {
    const FolderLock lock(run, "prune");
    check_refused_alike(config, ErrorCode::usage, ": in use by prune, process ");
  }
  SUBCASE("another configuration") {
    config.train.epochs = 3;
    check_refused_alike(config, ErrorCode::usage, "was made with another configuration: ");
  }
  SUBCASE("a damaged checkpoint") {
    std::filesystem::resize_file(run + "/checkpoint.safetensors", 1000);
    check_refused_alike(config, ErrorCode::bad_file, "checkpoint.safetensors: ");
  }
  SUBCASE("metrics that were cut") {
    std::filesystem::resize_file(run + "/metrics.jsonl", 10);
    check_refused_alike(config, ErrorCode::bad_file,
                        "metrics.jsonl: found 10 bytes, expected at least ");
  }
  SUBCASE("metrics that are gone") {
    std::filesystem::remove(run + "/metrics.jsonl");
    check_refused_alike(config, ErrorCode::bad_file, "metrics.jsonl: is missing");
  }
  SUBCASE("the dense network that was trained is gone") {
    std::filesystem::remove(run + "/dense.safetensors");
    check_refused_alike(config, ErrorCode::bad_file, "dense.safetensors: is missing, ");
  }
  SUBCASE("a run that is finished") {
    std::ofstream(run + "/prune.json") << "{}";
    std::ofstream(run + "/report.html") << "<html>";
    check_refused_alike(config, ErrorCode::usage, ": the run is finished; see ");
  }
}

TEST_CASE("a dry run says what a run will use, and leaves nothing") {
  const Bench bench;
  const std::string text = describe_run(bench.config("run"), {.is_quiet = true});
  CHECK(text.find("device: cpu (1 thread)\n") != std::string::npos);
  CHECK(text.find(", 256 training, 64 validation, 64 test images, 4 classes\n") !=
        std::string::npos);
  CHECK(text.find("  linear: linear -> [1, 4]\n") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(bench.folder("run")));
  RunConfig config = bench.config("a\x1b[2J");
  CHECK(describe_run(config, {.is_quiet = true}).find("a\\x1b[2J\n") != std::string::npos);
}

}  // namespace
}  // namespace winnow
