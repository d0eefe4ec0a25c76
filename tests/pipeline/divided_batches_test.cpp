// prune as several processes that divide each batch.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/pipeline/ranks.h"

namespace winnow {
namespace {

constexpr char kDivided[] = "train.data_parallel=true prune.method=magnitude train.batch_size=30 ";

// Of the losses of a stage, in two runs.
double largest_difference(const Workshop& shop, const std::string& stage, const std::string& a,
                          const std::string& b) {
  const auto of_a = stage_of(shop, a, stage), of_b = stage_of(shop, b, stage);
  REQUIRE(of_a.size() == of_b.size());
  double most = 0.0;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    most = std::max(most, std::abs(of_a[i]["loss"].get<double>() - of_b[i]["loss"].get<double>()));
  }
  return most;
}

std::string pruned_of(const Workshop& shop, const std::string& run) {
  return read_text_file(shop.data() + "/" + run + "/pruned.safetensors");
}

}  // namespace

// 512 images: 17 batches of 30 and one of 2, which two ranks do not divide. The network has batch
// norm, which sees a part of the batch; training/team_test.cpp has one without.
TEST_CASE("ranks that divide batches train as one process does, but for rounding and norms") {
  const Workshop shop;
  require(shop.prune("--quiet " + output_option(shop, "one") + kDivided));
  for (const int size : {2, 3}) {
    CAPTURE(size);
    const std::string run = "by" + std::to_string(size), again = run + "again";
    const Ranks ranks(shop, size);
    ranks.run(output_option(shop, run) + kDivided);
    INFO(ranks.output_of(0));
    REQUIRE(ranks.all_ended_with(0));
    CHECK(ranks.output_of(1) == "");
    CHECK(largest_difference(shop, "dense", "one", run) < 2e-2);
    CHECK(largest_difference(shop, "prune", "one", run) < 2e-2);
    CHECK(metrics_of(shop, run) != metrics_of(shop, "one"));  // they sum in another order
    ranks.run(output_option(shop, again) + kDivided);
    CHECK(metrics_of(shop, again) == metrics_of(shop, run));
    CHECK(pruned_of(shop, again) == pruned_of(shop, run));
  }
}

TEST_CASE("teams of ranks train the members of a generation") {
  const Workshop shop;
  const std::string keys = "train.data_parallel=true prune.generation=2 prune.iter_nr=6 ";
  require(shop.prune("--quiet " + output_option(shop, "one") + keys));
  const Ranks ranks(shop, 4);
  ranks.run(output_option(shop, "four") + keys);
  INFO(ranks.output_of(0));
  REQUIRE(ranks.all_ended_with(0));
  CHECK(largest_difference(shop, "dense", "one", "four") < 2e-2);
  const auto one = stage_of(shop, "one", "prune"), four = stage_of(shop, "four", "prune");
  REQUIRE(four.size() == one.size());
  for (const std::size_t i : {0, 1}) {  // the first generation is the same in both
    CHECK(std::abs(four[i]["loss"].get<double>() - one[i]["loss"].get<double>()) < 2e-2);
    CHECK(four[i]["sparsities"] == one[i]["sparsities"]);
  }
}

TEST_CASE("a rank that is killed amid a divided batch is named, and others go on") {
  const Workshop shop;
  const std::string longer = std::string(kDivided) + "train.epochs=60 ";
  const Ranks three(shop, 3), two(shop, 2);
  three.run(longer, until_lines(shop, 4) + "kill -9 $pid");
  INFO(three.statuses());
  CHECK(three.statuses() == "status 4\nstatus 4\nstatus 137\n");
  for (const int rank : {0, 1}) {
    const std::string said = three.output_of(rank);
    INFO(said);
    CHECK(said.find("rank 2 on ") != std::string::npos);
  }
  CHECK(three.output_of(0).find("; checkpoint saved") != std::string::npos);
  two.run("--resume " + longer);
  INFO(two.output_of(0));
  CHECK(two.all_ended_with(0));
  const auto epochs = stage_of(shop, "run", "dense");
  REQUIRE(epochs.size() == 60);
  for (std::size_t i = 0; i < epochs.size(); ++i) CHECK(epochs[i]["batches"] == 18 * (i + 1));
  CHECK(epochs.back()["loss"] < 0.5 * epochs.front()["loss"].get<double>());
}

TEST_CASE("an interrupt ends ranks that divide batches behind the same one") {
  const Workshop shop;
  const std::string longer = std::string(kDivided) + "train.epochs=30 ";
  const Ranks ranks(shop, 2);
  ranks.run(output_option(shop, "whole") + longer);
  REQUIRE(ranks.all_ended_with(0));
  ranks.run(longer, until_lines(shop, 4) + "kill -INT $pid");
  INFO(ranks.statuses());
  INFO(ranks.output_of(0));
  CHECK(ranks.all_ended_with(130));
  CHECK(ranks.output_of(0).find("; checkpoint saved") != std::string::npos);
  ranks.run("--resume " + longer);
  CHECK(ranks.all_ended_with(0));
  CHECK(metrics_of(shop, "run") == metrics_of(shop, "whole"));
  CHECK(pruned_of(shop, "run") == pruned_of(shop, "whole"));
}

// As torchrun does, which kills those that have not ended half a minute later.
TEST_CASE("ranks that are asked to stop do not wait until a dead one counts as dead") {
  for (const std::string& keys : {std::string(kDivided) + "train.epochs=200",
                                  std::string("prune.generation=2 prune.iter_nr=200")}) {
    CAPTURE(keys);
    const Workshop shop;
    const Ranks ranks(shop, 2, kTorchrun, 300);
    ranks.run(keys, until_lines(shop, 5) + "kill -9 $pid; sleep 0.5; set -- $pids; kill -TERM $1");
    INFO(ranks.output_of(0));
    CHECK(ranks.statuses() == "status 130\nstatus 137\n");
    CHECK(ranks.output_of(0).find("; checkpoint saved") != std::string::npos);
  }
}

TEST_CASE("batches that cannot be divided are refused before the run begins") {
  const Workshop shop;
  const Ranks ranks(shop, 3);
  const auto refused = [&](const std::string& options, const std::string& reason) {
    ranks.run("train.data_parallel=true " + options);
    CAPTURE(ranks.statuses());
    CHECK(ranks.all_ended_with(2));
    INFO(ranks.output_of(0));
    CHECK(ranks.output_of(0).find(reason) != std::string::npos);
  };
  refused("train.batch_size=5",
          "train.batch_size: found 5 images, which 3 processes divide, "
          "expected at least 6");
  refused("prune.generation=2",
          "prune.generation: found 2, among which 3 processes cannot be divided");
}

}  // namespace winnow
