// Whole runs on GPUs: stopped and resumed, and as several processes.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>

#include "tests/pipeline/ranks.h"
#include "tests/pipeline/run_results.h"

namespace winnow {
namespace {

constexpr char kGeneration[] = "device=cuda prune.pool_size=4 prune.generation=4 prune.iter_nr=12 ";
// An epoch has 14 batches and a last one of 8 images, which is recorded in its fourth epoch.
constexpr char kDivided[] =
    "device=cuda train.data_parallel=true prune.method=magnitude train.batch_size=36 "
    "train.epochs=6 ";

// Whether the case must end here: prune has not so many GPUs. ctest counts it as skipped.
bool lacks_gpus(const Workshop& shop, int count) {
  const Outcome outcome = shop.prune("--dry-run device=cuda:" + std::to_string(count - 1));
  if (outcome.status == 0) return false;
  std::printf("skipped: prune has not %d GPUs (%s)\n", count, outcome.output.c_str());
  return true;
}

}  // namespace

TEST_CASE("a run on a GPU that is stopped and resumed ends with the same bytes") {
  const Workshop shop;
  if (lacks_gpus(shop, 1)) return;
  const std::string keys = "device=cuda prune.iter_nr=24 ";
  const std::string whole = shop.data() + "/whole", parts = shop.data() + "/parts";
  require(shop.prune(keys + "--quiet --output " + whole));
  for (const std::string line : {"dense: epoch 0/2", "prune: iteration 1/24"}) {
    CAPTURE(line);
    const Stopped stopped =
        stop_at(shop.prune_command(keys + "--overwrite --output " + parts), line, SIGINT);
    INFO(stopped.output);
    REQUIRE(stopped.status == 130);
    require(shop.prune(keys + "--quiet --resume --output " + parts));
    check_equal_runs(whole, parts);
  }
}

TEST_CASE("GPUs that share a population write what one writes") {
  const Workshop shop;
  if (lacks_gpus(shop, 2)) return;
  require(shop.prune("--quiet " + output_option(shop, "one") + kGeneration));
  const Ranks ranks(shop, 2, kTorchrun, 60);
  ranks.run(output_option(shop, "two") + kGeneration);
  INFO(ranks.output_of(0));
  REQUIRE(ranks.all_ended_with(0));
  CHECK(ranks.output_of(0).find("2, networks from GPU to GPU by NCCL\n") != std::string::npos);
  check_equal_runs(shop.data() + "/one", shop.data() + "/two");
}

// Sums by NCCL in CUDA graphs of the steps, and without.
TEST_CASE("GPUs that divide batches train as one does, but for rounding, and alike each time") {
  const Workshop shop;
  if (lacks_gpus(shop, 2)) return;
  require(shop.prune("--quiet " + output_option(shop, "one") + kDivided));
  const Ranks ranks(shop, 2, kTorchrun, 60);
  for (const std::string run : {"two", "again", "plain"}) {
    ranks.run(output_option(shop, run) + kDivided +
              (run == "plain" ? "train.cuda_graph=false " : ""));
    INFO(ranks.output_of(0));
    REQUIRE(ranks.all_ended_with(0));
  }
  check_equal_runs(shop.data() + "/two", shop.data() + "/again");
  for (const std::string stage : {"dense", "prune"}) {
    const auto one = stage_of(shop, "one", stage), two = stage_of(shop, "two", stage),
               plain = stage_of(shop, "plain", stage);
    REQUIRE(one.size() == two.size());
    REQUIRE(plain.size() == two.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      CHECK(std::abs(one[i]["loss"].get<double>() - two[i]["loss"].get<double>()) < 5e-2);
      CHECK(plain[i]["loss"] == two[i]["loss"]);
    }
  }
}

}  // namespace winnow
