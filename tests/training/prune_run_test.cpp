// Whole runs of the program: what they write and what they leave alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/training/run_bench.h"

namespace winnow {
namespace {

TEST_CASE("a run writes its folder and reaches the sparsity") {
  const Bench bench;
  const PruneSummary summary =
      run_prune(bench.config("run"), {.use = FolderUse::fresh, .is_quiet = true});
  CHECK(summary.target_met);
  CHECK(summary.sparsity >= 0.59);
  CHECK(summary.dense_accuracy > 0.8);
  for (const char* file : {"config.yaml", "dense.safetensors", "pruned.safetensors",
                           "metrics.jsonl", "prune.json", "report.html"}) {
    CHECK(std::filesystem::exists(bench.folder("run") + "/" + file));
  }
  CHECK_FALSE(std::filesystem::exists(bench.folder("run") + "/checkpoint.safetensors"));
  CHECK(bench.metrics("run").size() == 2 + 8);
  const Model model = bench.pruned("run");
  CHECK(model.classes.size() == 4);
  CHECK(sparsity(model) == doctest::Approx(summary.sparsity));

  SUBCASE("which a second run does not overwrite silently") {
    CHECK(error_of([&] { run_prune(bench.config("run"), {.is_quiet = true}); }) ==
          ErrorCode::usage);
  }
  SUBCASE("and equal configurations give equal models") {
    run_prune(bench.config("again"), {.is_quiet = true});
    CHECK((bench.pruned("again").tensors == model.tensors));
  }
}

TEST_CASE("training that diverges is refused by its epoch") {
  const Bench bench;
  RunConfig config = bench.config("run");
  config.train.rate.rate = 1000;
  config.train.rate.warmup = 0;
  config.train.weight_decay = 1;
  const auto run = [&] { run_prune(config, {.is_quiet = true}); };
  CHECK(error_of(run) == ErrorCode::usage);
  CHECK(message_of([&] {
          config.output = bench.folder("again");
          run();
        }).find("training diverged") != std::string::npos);
}

// The checkpoint of before stays: going on from it ends in the same way.
TEST_CASE(
    "training that diverges names batch and learning rate, and keeps a checkpoint of before") {
  for (const bool is_dense : {true, false}) {
    CAPTURE(is_dense);
    const Bench bench([&](RunConfig& config) {
      config.method.method = Method::magnitude;
      config.checkpoint_seconds = 1e-9;
      RateSchedule& rate = is_dense ? config.train.rate : config.stage.rate;
      rate.rate = 0.01;
      rate.decay = Decay::step;
      rate.milestones = {1};
      rate.gamma = 1e12;
      rate.warmup = 0;
    });
    const auto message_with = [&](FolderUse use) {
      return message_of([&] { run_prune(bench.config("run"), {.use = use, .is_quiet = true}); });
    };
    const std::string message = message_with(FolderUse::fresh);
    CAPTURE(message);
    CHECK(message.find(is_dense ? "epoch 2, batch " : "iteration ") != std::string::npos);
    CHECK(message.find(" at learning rate 1e+10: training diverged") != std::string::npos);
    CHECK(std::filesystem::exists(bench.folder("run") + "/checkpoint.safetensors"));
    CHECK(message_with(FolderUse::resume) == message);
  }
}

TEST_CASE("pruning that diverges names the iteration and its learning rate") {
  for (const Method method : {Method::magnitude, Method::lottery, Method::fssl}) {
    const Bench bench([&](RunConfig& config) {
      config.method.method = method;
      config.method.rounds = 2;
      config.stage.rate.rate = 1e30;
      config.stage.rate.decay = Decay::constant;
    });
    const std::string message =
        message_of([&] { run_prune(bench.config("run"), {.is_quiet = true}); });
    CAPTURE(message);
    CHECK(message.find("prune: the loss of iteration ") == 0);
    CHECK(message.find(" at learning rate 1e+30: training diverged") != std::string::npos);
  }
}

TEST_CASE("the evolution never ends with numbers that are not finite") {
  const Bench bench([](RunConfig& config) {
    config.stage.rate.rate = 1e9;
    config.stage.rate.decay = Decay::constant;
    config.evolution.iter_nr = 12;
  });
  const PruneSummary summary = run_prune(bench.config("run"), {.is_quiet = true});
  std::int64_t overflows = 0;
  for (const std::string& text : bench.metrics("run")) {
    const auto line = nlohmann::json::parse(text + "}");
    if (line.at("stage") != "prune" || line.value("finite", true)) continue;
    CHECK_FALSE(line.at("accepted").get<bool>());
    ++overflows;
  }
  CHECK(overflows > 0);
  CHECK(summary.target_met == summary.shortfall.empty());
}

TEST_CASE("masks of balanced rows meet the target by every way to it") {
  for (const Method method : {Method::evolutionary, Method::magnitude, Method::lottery}) {
    for (const std::int64_t vector : {1, 8}) {
      const Bench bench([&](RunConfig& config) {
        config.method.method = method;
        config.method.rounds = 2;
        config.stage.vector = vector;
        config.stage.row_balance = true;
        config.evolution.target_sparsity = 0.55;
      });
      const PruneSummary summary = run_prune(bench.config("run"), {.is_quiet = true});
      CAPTURE(summary.shortfall);
      CHECK(summary.target_met);
      CHECK(summary.sparsity >= 0.55);
    }
  }
}

TEST_CASE("training that leaves numbers that are not finite writes no model") {
  const Bench bench;
  RunConfig config = bench.config("run");
  config.train.rate.rate = 1e9;
  config.train.rate.warmup = 0;
  config.train.momentum = 0.5;
  config.train.epochs = 1;
  config.checkpoint_seconds = 1e-9;
  const auto run = [&] {
    run_prune(config, {.use = FolderUse::fresh, .is_quiet = true, .should_stop = {}});
  };
  const auto code = error_of(run);
  CHECK(code == ErrorCode::usage);
  CHECK_FALSE(std::filesystem::exists(bench.folder("run") + "/dense.safetensors"));
  config.output = bench.folder("again");
  const std::string message = message_of(run);
  CHECK(message.find("training diverged; lower train.learning_rate") != std::string::npos);
  CHECK(message.find("-nan") == std::string::npos);
}

TEST_CASE(
    "metrics say of every iteration whether it was accepted, by which alpha, and what moved") {
  const Bench bench;
  run_prune(bench.config("run"), {.is_quiet = true});
  std::int64_t iteration = 0;
  double moved = 0;
  for (const std::string& text : bench.metrics("run")) {
    const auto line = nlohmann::json::parse(text + "}");
    if (line.at("stage") == "dense") continue;
    CHECK(line.at("iteration") == ++iteration);
    const std::string action = line.at("action");
    CHECK(line.at("accepted").get<bool>() == (action == "written" || action == "dropped"));
    CHECK(line.at("alpha").get<double>() >= 0.0);
    CHECK(line.at("alpha").get<double>() <= 0.5);
    for (const char* key : {"entered", "left", "rate"}) {
      CHECK(line.at("migration").at(key).get<double>() >= 0.0);
    }
    moved += line.at("migration").at("left").get<double>();
  }
  CHECK(iteration == 8);
  CHECK(moved > 0);
}

TEST_CASE("a folder with other people's files is left alone") {
  const Bench bench;
  std::filesystem::create_directories(bench.folder("run"));
  std::ofstream(bench.folder("run") + "/thesis.txt") << "important";
  for (const FolderUse use : {FolderUse::fresh, FolderUse::resume, FolderUse::overwrite}) {
    CHECK(error_of([&] { run_prune(bench.config("run"), {.use = use, .is_quiet = true}); }) ==
          ErrorCode::usage);
  }
  CHECK(read_text_file(bench.folder("run") + "/thesis.txt") == "important");
}

TEST_CASE("a run that cannot begin leaves no trace and no damage") {
  const Bench bench;
  RunConfig config = bench.config("run");
  config.device = "gpu";
  CHECK(error_of([&] { run_prune(config, {.is_quiet = true}); }) == ErrorCode::usage);
  CHECK_FALSE(std::filesystem::exists(bench.folder("run")));
  run_prune(bench.config("run"), {.is_quiet = true});
  const auto overwrite = [&] {
    run_prune(config, {.use = FolderUse::overwrite, .is_quiet = true});
  };
  CHECK(error_of(overwrite) == ErrorCode::usage);
  CHECK(bench.pruned("run").classes.size() == 4);
}

TEST_CASE("nothing of an earlier run survives the one that replaces it") {
  const Bench bench;
  run_prune(bench.config("run"), {.is_quiet = true});
  const std::string folder = bench.folder("run");
  for (const char* name : {"quantize.json", "export.json", "run.json", "bench.json"}) {
    std::ofstream(folder + "/" + name) << "{\"scheme\": \"of the earlier run\"}";
  }
  std::filesystem::copy(folder + "/pruned.safetensors", folder + "/quantized.safetensors");
  RunConfig config = bench.config("run");
  config.name = "second";
  config.train.epochs = 0;
  config.stage.start = Start::scratch;
  run_prune(config, {.use = FolderUse::overwrite, .is_quiet = true});
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"config.yaml", "metrics.jsonl", "prune.json",
                                          "pruned.safetensors", "report.html"});
  CHECK(bench.metrics("run").size() == 8);
  CHECK(read_text_file(folder + "/report.html").find("earlier run") == std::string::npos);
}

}  // namespace
}  // namespace winnow
