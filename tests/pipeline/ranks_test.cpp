// prune as several processes that share a population.
#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "runtime/base/processor.h"
#include "tests/pipeline/ranks.h"

namespace winnow {
namespace {

constexpr char kGeneration[] = "prune.pool_size=4 prune.generation=4 prune.iter_nr=12";

}  // namespace

TEST_CASE("the ranks of a run write what one process writes, by rank 0 alone") {
  const Workshop shop;
  // All that a rank other than 0 must be told or have in its snapshots.
  const std::string keys =
      std::string(kGeneration) + " prune.distillation=0.5 prune.feedback=true train.ema_decay=0.9";
  REQUIRE(shop.prune("--quiet " + output_option(shop, "one") + keys).status == 0);
  const std::vector<std::pair<int, Launcher>> starts = {
      {2, kTorchrun}, {3, kOpenMpi}, {2, kMpich}, {4, kSlurm}};
  for (const auto& [size, launcher] : starts) {
    CAPTURE(size);
    CAPTURE(launcher.name);
    const Ranks ranks(shop, size, launcher);
    const std::string run = "run" + std::to_string(size) + launcher.name[0];
    ranks.run(output_option(shop, run) + keys);
    CHECK(ranks.all_ended_with(0));
    CHECK(ranks.output_of(0).find("pruned accuracy") != std::string::npos);
    const std::string way = std::to_string(size) + ", networks through host memory\n";
    CHECK(ranks.output_of(0).find("processes:       " + way) != std::string::npos);
    CHECK(ranks.output_of(1) == "");
    CHECK(metrics_of(shop, run) == metrics_of(shop, "one"));
    CHECK(read_text_file(shop.data() + "/" + run + "/pruned.safetensors") ==
          read_text_file(shop.data() + "/one/pruned.safetensors"));
  }
}

// Programs that take as long as a byte count says, whatever the machine does.
TEST_CASE("ranks prune to a time in as many rounds as one process") {
  const Workshop shop;
  require(shop.prune("--quiet " + output_option(shop, "plain") + kGeneration));
  const std::string device = cpu_device_name(1, ", baseline");
  nlohmann::json table = {{"command", "tune"}, {"device", device}, {"precision", "f32"}};
  nlohmann::json batch = {{"batch", 8}, {"layers", nlohmann::json::array()}};
  double dense = 0;
  const auto plain = nlohmann::json::parse(read_text_file(shop.data() + "/plain/prune.json"));
  for (const auto& layer : plain["layers"]) {
    const double ms = layer["weights"].get<double>() * 1e-4;
    dense += ms;
    const auto curve = [&](int vector) {
      const nlohmann::json point = {{"density", 0.01}, {"ms", 0.01 * ms / vector}};
      return nlohmann::json{{"vector", vector}, {"points", {point}}};
    };
    batch["layers"].push_back({{"name", layer["name"]},
                               {"weights", layer["weights"]},
                               {"dense", {{"ms", ms}}},
                               {"granularities", {curve(1), curve(8)}}});
  }
  const auto fit = [](int vector) {
    return nlohmann::json{{"vector", vector}, {"constant_ms", 0.5}, {"scale", 1.0}};
  };
  batch["network"] = {{"dense_ms", dense + 0.5},
                      {"granularities", {fit(1), fit(8)}},
                      {"mixed", {{"constant_ms", 0.5}, {"scale", 1.0}}}};
  table["batches"] = {batch};
  write_file_atomically(shop.data() + "/times.json", table.dump());
  write_file_atomically(
      shop.data() + "/make.sh",
      "mkdir -p $1; printf '#!/bin/sh\ncp \"$2\" \"$4\"\n' > $1/export; cat > $1/runtime << 'E'\n"
      "#!/bin/sh\nbytes=$(gzip -c \"$2\" | wc -c)\nfor last; do :; done\n"
      "ms=$(awk \"BEGIN { print 0.8 + $bytes * 3e-5 }\")\n"
      "echo '[{\"batch\":8,\"device\":\"" +
          device +
          "\",\"precision\":\"f32\",'"
          "'\"dense\":{\"error\":\"none\"},\"sparse\":{\"error\":\"none\"},\"chosen\":{\"layers\":["
          "],'"
          "'\"network_ms\":{\"median\":'$ms'}}}]' > \"$last\"\nE\nchmod +x $1/export $1/runtime\n");
  require(shell("sh " + shop.data() + "/make.sh " + shop.data() + "/programs"));
  const std::string keys = std::string(kGeneration) +
                           " prune.budget=time prune.target_speedup=2 prune.time_rounds=2 "
                           "prune.time_tolerance=0.000001 prune.time_table=" +
                           shop.data() + "/times.json prune.time_programs=" + shop.data() +
                           "/programs";
  for (const std::string granularity : {"element", "mixed"}) {
    CAPTURE(granularity);
    const std::string all = keys + " prune.granularity=" + granularity;
    require(shop.prune("--quiet " + output_option(shop, "one" + granularity) + all));
    const Ranks ranks(shop, 2);
    ranks.run(output_option(shop, "two" + granularity) + all);
    CHECK(ranks.statuses() == "status 0\nstatus 0\n");
    const std::string metrics = metrics_of(shop, "one" + granularity);
    CHECK(metrics.find("\"stage\":\"time\",\"round\":2") != std::string::npos);
    CHECK(metrics_of(shop, "two" + granularity) == metrics);
  }
}

TEST_CASE("a rank that is killed is named, and the run goes on with another number of ranks") {
  const Workshop shop;
  const std::string longer = std::string(kGeneration) + "0";  // 120 iterations
  REQUIRE(shop.prune("--quiet " + output_option(shop, "whole") + longer).status == 0);
  const Ranks ranks(shop, 3);
  ranks.run(longer, until_lines(shop, 6) + "kill -9 $pid");
  INFO(ranks.statuses());
  CHECK(ranks.statuses().find("status 137") != std::string::npos);
  for (const int rank : {0, 1}) {
    const std::string said = ranks.output_of(rank);
    INFO(said);
    CHECK(said.find("rank 2 on ") != std::string::npos);
    CHECK(said.find("has been silent for " + std::to_string(kRankTimeout) + " s") !=
          std::string::npos);
  }
  // Rank 1 may say so too, in the words that rank 0 left for it.
  CHECK(ranks.output_of(0).find("checkpoint saved") != std::string::npos);
  REQUIRE(shop.prune("--quiet --resume " + longer).status == 0);
  CHECK(metrics_of(shop, "run") == metrics_of(shop, "whole"));
}

// Rank 0 is where the others meet. A launcher that sees it die would end them too.
TEST_CASE("without rank 0 the others end and name it, and its last checkpoint goes on") {
  const Workshop shop;
  const std::string longer = std::string(kGeneration) + "0 checkpoint.seconds=0.01";
  require(shop.prune("--quiet " + output_option(shop, "whole") + longer));
  const Ranks ranks(shop, 3);
  ranks.run(longer, until_lines(shop, 8) + "set -- $pids; kill -9 $1");
  CHECK(ranks.statuses().find("status 137\nstatus 4\nstatus 4\n") != std::string::npos);
  for (const int rank : {1, 2}) {
    const std::string said = ranks.output_of(rank);
    INFO(said);
    CHECK(said.find("rank 0 at 127.0.0.1") != std::string::npos);
    CHECK(said.find(" does not answer any more") != std::string::npos);
  }
  const Ranks two(shop, 2);
  two.run("--resume " + longer);
  CHECK(two.all_ended_with(0));
  CHECK(metrics_of(shop, "run") == metrics_of(shop, "whole"));
}

TEST_CASE("one rank's interrupt ends all with a checkpoint, and two go on where three were") {
  const Workshop shop;
  const std::string longer = std::string(kGeneration) + "0";
  require(shop.prune("--quiet " + output_option(shop, "whole") + longer));
  const Ranks three(shop, 3), two(shop, 2);
  three.run(longer, until_lines(shop, 6) + "kill -INT $pid");
  INFO(three.statuses());
  INFO(three.output_of(0));
  CHECK(three.all_ended_with(130));
  CHECK(three.output_of(0).find("rank 2 on ") != std::string::npos);
  CHECK(three.output_of(0).find(" was interrupted; checkpoint saved") != std::string::npos);
  two.run("--resume " + longer);
  CHECK(two.all_ended_with(0));
  CHECK(metrics_of(shop, "run") == metrics_of(shop, "whole"));
}

TEST_CASE("ranks that cannot share a run are refused before it begins") {
  const Workshop shop;
  const Ranks ranks(shop, 2);
  const auto refused = [&](const std::string& options, const std::string& reason) {
    ranks.run(options);
    CAPTURE(ranks.statuses());
    CHECK(ranks.statuses() == "status 2\nstatus 2\n");
    for (const int rank : {0, 1}) {
      INFO(ranks.output_of(rank));
      CHECK(ranks.output_of(rank).find(reason) != std::string::npos);
    }
  };
  refused("", "prune.generation: found 1, expected at least 2, one iteration for each process");
  refused("prune.method=magnitude", "prune.method: found magnitude, which trains one network");
  refused("prune.generation=2 prune.alpha=0.$RANK",
          "rank 1 was started with another configuration than rank 0: '  alpha: 0' there, "
          "'  alpha: 0.1' now");
}

}  // namespace winnow
