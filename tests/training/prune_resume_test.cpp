// Runs that are stopped or killed and go on.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/training/run_bench.h"

namespace winnow {
namespace {

TEST_CASE("a run that is interrupted again and again ends with the same bits") {
  const Bench bench;
  run_prune(bench.config("whole"), {.is_quiet = true});
  // 16 batches of the baseline, 40 of the evolution: stops in both, amid epochs and iterations.
  bool is_done = bench.run_until("parts", 5, FolderUse::fresh);
  int parts = 1;
  for (; !is_done && parts < 20; ++parts) is_done = bench.run_until("parts", 9, FolderUse::resume);
  CHECK(is_done);
  CHECK(parts >= 5);
  CHECK((bench.pruned("parts").tensors == bench.pruned("whole").tensors));
  CHECK((bench.pruned("parts").mask_vector == bench.pruned("whole").mask_vector));
  CHECK(bench.metrics("parts") == bench.metrics("whole"));
}

// 16 batches of the baseline: all stops in and at the ends of its epochs; then 40 of the evolution.
TEST_CASE("a run that is stopped anywhere and resumed writes the same metrics") {
  const Bench bench;
  run_prune(bench.config("whole"), {.is_quiet = true});
  const std::vector<std::string> whole = bench.metrics("whole");
  REQUIRE(whole.size() == 2 + 8);
  for (const std::int64_t stop : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 21, 25, 44}) {
    CAPTURE(stop);
    const std::string run = "stop" + std::to_string(stop);
    REQUIRE_FALSE(bench.run_until(run, stop, FolderUse::fresh));
    CHECK(bench.metrics(run).size() < whole.size());
    bench.resume(run);
    CHECK(bench.metrics(run) == whole);
  }
}

// Passes over images of two and three batches, so that a stop can come amid them.
TEST_CASE("a run that is stopped while it measures and resumed ends with the same bits") {
  const auto change = [](RunConfig& config) {
    config.data.validation = 600;
    config.stage.batch_norm_images = 600;
    config.evolution.iter_nr = 3;
  };
  const Bench bench(change, 1000, 1100);
  std::int64_t asked = 0;
  const auto count = [&] { return ++asked < 0; };
  run_prune(bench.config("whole"), {.is_quiet = true, .should_stop = count});
  // 13 batches and a pass for each epoch, then the pass over the test images; three passes for each
  // solution of the pool. The last question is in the pass over the test images at the end.
  for (const std::int64_t stop : {std::int64_t{14}, std::int64_t{28}, std::int64_t{29},
                                  std::int64_t{30}, std::int64_t{32}, asked - 1, asked}) {
    CAPTURE(stop);
    const std::string run = "stop" + std::to_string(stop);
    REQUIRE_FALSE(bench.run_until(run, stop, FolderUse::fresh));
    CHECK_FALSE(std::filesystem::exists(bench.folder(run) + "/prune.json"));
    bench.resume(run);
    CHECK(bench.metrics(run) == bench.metrics("whole"));
    CHECK((bench.pruned(run).tensors == bench.pruned("whole").tensors));
    CHECK(read_text_file(bench.folder(run) + "/dense.safetensors", 1 << 20) ==
          read_text_file(bench.folder("whole") + "/dense.safetensors", 1 << 20));
  }
}

TEST_CASE("a run that is killed anywhere and resumed writes the same metrics") {
  const Bench bench;
  run_prune(bench.config("whole"), {.is_quiet = true});
  const std::vector<std::string> whole = bench.metrics("whole");
  // At 9 and 17 the last checkpoint is the one behind an epoch's last batch, before its line.
  for (const std::int64_t kill : {1, 8, 9, 12, 17, 18, 23, 50}) {
    CAPTURE(kill);
    const std::string run = "kill" + std::to_string(kill);
    bench.run_until_killed(run, kill);
    CHECK(bench.metrics(run).size() < whole.size());
    bench.resume(run);
    CHECK(bench.metrics(run) == whole);
    CHECK((bench.pruned(run).tensors == bench.pruned("whole").tensors));
  }
}

// What is there first: a folder without it is no run's.
TEST_CASE("a run that was killed behind its configuration begins when it is resumed") {
  const Bench bench;
  run_prune(bench.config("whole"), {.is_quiet = true});
  bench.run_until_killed("early", 1);
  for (const auto& entry : std::filesystem::directory_iterator(bench.folder("early"))) {
    if (entry.path().filename() != "config.yaml") std::filesystem::remove(entry.path());
  }
  bench.resume("early");
  CHECK(bench.metrics("early") == bench.metrics("whole"));
}

// What a method does differently from the run of the cases above.
struct Variant {
  const char* name;
  std::function<void(RunConfig&)> change;
};
const Variant kVariants[] = {
    {"offspring",
     [](RunConfig& config) {
       config.evolution.offspring = 6;
       config.evolution.judge_images = 100;
       config.evolution.known_allocations = true;
       config.stage.batch_norm_images = 64;
     }},
    {"offspring that train before they are judged",
     [](RunConfig& config) {
       config.evolution.offspring = 3;
       config.evolution.judge_batches = 1;
     }},
    {"generation", [](RunConfig& config) { config.evolution.generation = 3; }},
    {"magnitude", [](RunConfig& config) { config.method.method = Method::magnitude; }},
    {"lottery",
     [](RunConfig& config) {
       config.method = {.method = Method::lottery, .allocation = Allocation::lamp, .rounds = 4};
     }},
    {"fssl",
     [](RunConfig& config) { config.method = {.method = Method::fssl, .group_strength = 0.01}; }},
    {"fssl of whole channels",
     [](RunConfig& config) {
       config.method = {.method = Method::fssl, .group_strength = 0.01, .between_channels = 1};
       config.stage.vector = 0;
     }},
};

TEST_CASE("a run of any method that is killed or stopped and resumed writes the same metrics") {
  for (const Variant& variant : kVariants) {
    CAPTURE(variant.name);
    const Bench bench(variant.change);
    const PruneSummary summary = run_prune(bench.config("whole"), {.is_quiet = true});
    CHECK(summary.target_met);
    const std::vector<std::string> whole = bench.metrics("whole");
    REQUIRE(whole.size() == 2 + 8);
    for (const std::int64_t kill : {18, 31, 50}) {
      CAPTURE(kill);
      const std::string run = "kill" + std::to_string(kill);
      bench.run_until_killed(run, kill);
      bench.resume(run);
      CHECK(bench.metrics(run) == whole);
      CHECK((bench.pruned(run).tensors == bench.pruned("whole").tensors));
    }
    REQUIRE_FALSE(bench.run_until("stop", 37, FolderUse::fresh));
    bench.resume("stop");
    CHECK(bench.metrics("stop") == whole);
  }
}

TEST_CASE("resuming a run that was killed behind its summary writes the report that is missing") {
  const Bench bench;
  run_prune(bench.config("run"), {.is_quiet = true});
  const std::string report = bench.folder("run") + "/report.html";
  std::filesystem::remove(report);
  CHECK(message_of([&] { bench.resume("run"); }).find("the run is finished; see ") !=
        std::string::npos);
  CHECK(std::filesystem::exists(report));
}

TEST_CASE("resuming refuses what would not continue the run") {
  const Bench bench;
  CHECK(error_of([&] { run_prune(bench.config("none"), {.use = FolderUse::resume}); }) ==
        ErrorCode::usage);
  bench.run_until("run", 20, FolderUse::fresh);
  RunConfig other = bench.config("run");
  other.train.epochs = 3;
  const auto resume = [&] {
    run_prune(other, {.use = FolderUse::resume, .is_quiet = true, .should_stop = {}});
  };
  CHECK(message_of(resume).find("epochs: 2") != std::string::npos);

  std::filesystem::resize_file(bench.folder("run") + "/checkpoint.safetensors", 1000);
  other = bench.config("run");
  CHECK(error_of(resume) == ErrorCode::bad_file);
}

}  // namespace
}  // namespace winnow
