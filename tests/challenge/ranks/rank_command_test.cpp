// `runtime challenge run` as 2 to 4 processes of one machine, on CPU engines.
#include <doctest/doctest.h>

#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "runtime/base/rank_place.h"
#include "runtime/challenge/ranks/socket.h"
#include "tests/challenge/ranks/rank_processes.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kImages = 500;  // eight stripes
constexpr char kForever[] = "--threads 1 --engine cpu --repeats 1000000";

std::string name_of(int rank, int size) {
  return "rank " + std::to_string(rank) + " of " + std::to_string(size) + " on " + machine_name();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("several processes give the categories of one, whatever started them") {
  const RunFolder folder(kImages);
  const ExpectedResult expected = folder.expected();
  const std::vector<std::pair<int, Launcher>> starts = {
      {2, kTorchrun}, {3, kOpenMpi}, {2, kMpich}, {4, kSlurm}};
  for (const auto& start : starts) {
    const int size = start.first;
    const Launcher& launcher = start.second;
    CAPTURE(launcher.name);
    RankProcesses ranks(folder, size, launcher);
    ranks.run_folder("--threads 1 --repeats 3 --engine cpu --baseline reference --categories " +
                     folder.file("out.tsv") + " --json " + folder.file("run.json"));
    INFO(ranks.output_of(0));
    CHECK(ranks.all_ended_with(0));
    CHECK(has(ranks.output_of(0), "categories gathered by TCP"));
    CHECK(has(ranks.output_of(0), "reference: equal, "));
    for (int rank = 1; rank < size; ++rank) CHECK(ranks.output_of(rank) == "");
    CHECK(read_categories_tsv(folder.file("out.tsv")) == expected.categories);
    const nlohmann::json json = folder.json();
    CHECK(json["truth"]["equal"] == true);
    CHECK(json["live"] == expected.live);
    CHECK(json["ranks"].size() == static_cast<std::size_t>(size));
    CHECK(json["ranks"][1]["rank"] == 1);
    CHECK(json["ranks"][1]["machine"] == machine_name());
    for (const nlohmann::json& run : json["runs"]) {
      for (const double ms : run["rank_ms"]) CHECK(run["inference_ms"].get<double>() >= ms);
    }
  }
}

TEST_CASE("ranks beside torchrun's store meet at another port") {
  const RunFolder folder(kImages);
  const std::uint16_t port = free_port();
  const Socket store = listen_at("127.0.0.1", {port});
  RankProcesses ranks(folder, 2, kTorchrun,
                      "TORCHELASTIC_USE_AGENT_STORE=True MASTER_PORT=" + std::to_string(port));
  ranks.run_folder("--threads 1");
  INFO(ranks.output_of(0));
  CHECK(ranks.all_ended_with(0));
}

TEST_CASE("a rank that is killed is named by the others, soon") {
  const RunFolder folder(kImages);
  for (const int killed : {0, 2}) {
    CAPTURE(killed);
    RankProcesses ranks(folder, 3);
    ranks.run_folder(kForever, ranks.until_running() + "set -- $pids; kill -9 $" +
                                   std::to_string(killed + 1) + "; date +%s > " +
                                   folder.file("killed"));
    CHECK(std::time(nullptr) - std::stol(read_text_file(folder.file("killed"))) < 10);
    CHECK(ranks.statuses() == (killed == 0 ? "137\n4\n4\n" : "4\n4\n137\n"));
    for (int rank = 0; rank < 3; ++rank) {
      if (rank == killed) continue;
      CHECK(last_line(ranks.output_of(rank)) ==
            "runtime: " + name_of(killed, 3) + " has ended before it was done");
    }
  }
}

TEST_CASE("a rank that is silent is named") {
  const RunFolder folder(kImages);
  RankProcesses ranks(folder, 3, kTorchrun, "WINNOW_RANK_TIMEOUT=2");
  ranks.run_folder(kForever, ranks.until_running() +
                                 "kill -STOP $pid; while kill -0 ${pids% *}; do sleep 0.1; done; "
                                 "kill -9 $pid");
  CHECK(ranks.statuses() == "4\n4\n137\n");
  for (const int rank : {0, 1}) {
    CHECK(last_line(ranks.output_of(rank)) ==
          "runtime: " + name_of(2, 3) +
              " has been silent for 2 s: it has died or its machine is gone");
  }
}

TEST_CASE("an interrupt of one rank or of all ends all with 130 and without results") {
  const RunFolder folder(kImages);
  for (const std::string hit : {"$pid", "$pids"}) {
    CAPTURE(hit);
    RankProcesses ranks(folder, 3);
    ranks.run_folder(kForever + (" --categories " + folder.file("out.tsv")),
                     ranks.until_running() + "kill -INT " + hit);
    CHECK(ranks.all_ended_with(130));
    for (int rank = 0; rank < 3; ++rank) {
      INFO(ranks.output_of(rank));
      CHECK(has(last_line(ranks.output_of(rank)), "interrupted"));
    }
    CHECK_FALSE(std::filesystem::exists(folder.file("out.tsv")));
  }
}

TEST_CASE("a rank that does not come is named, and so is a rank 0 that is not there") {
  const RunFolder folder(kImages);
  RankProcesses ranks(folder, 3, kTorchrun, "WINNOW_RANK_START_TIMEOUT=1 WORLD_SIZE=4");
  ranks.run_folder("");
  CHECK(ranks.all_ended_with(4));
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(ranks.output_of(rank) == "runtime: rank 3 of 4 has not come for 1 s\n");
  }
  ranks.run(folder.path(), "wait", 2);
  CHECK(ranks.statuses() == "4\n");
  CHECK(has(ranks.output_of(2), "no answer from rank 0 at 127.0.0.1:"));
}

TEST_CASE("variables that are no ranks are refused") {
  const RunFolder folder(kImages);
  RankProcesses ranks(folder, 2, kTorchrun, "RANK=3");
  ranks.run_folder("");
  CHECK(ranks.all_ended_with(2));
  CHECK(ranks.output_of(1) ==
        "runtime: environment: RANK: found '3', expected a whole number from 0 to 1\n");
  RankProcesses twice(folder, 3, kTorchrun, "RANK=$((r > 0))");
  twice.run_folder("");
  CHECK(twice.all_ended_with(2));
  CHECK(has(twice.output_of(0), "two processes have come as rank 1 of 3"));
  const Outcome alone = folder.run("--gather tcp");
  CHECK(alone.status == 2);
  CHECK(has(alone.output, "--gather has no effect"));
}

TEST_CASE("an error of one rank is told by all") {
  const RunFolder folder(kImages);
  RankProcesses ranks(folder, 3);
  ranks.run(folder.path() + "$([ $r = 1 ] && echo /nowhere)");
  CHECK(ranks.statuses() == "4\n3\n4\n");
  const std::string own = ranks.output_of(1);
  CHECK(has(own, "/nowhere"));
  for (const int rank : {0, 2}) {
    CHECK(ranks.output_of(rank) ==
          "runtime: " + name_of(1, 3) + ": " + own.substr(own.find(' ') + 1));
  }
}

TEST_CASE("ranks with other work or data are refused, with the rank and the difference") {
  const RunFolder folder(kImages), other_images(kImages + 1), other_network(kImages, 9);
  RankProcesses ranks(folder, 2);
  const auto refused = [&](const std::string& arguments, const std::string& difference) {
    CAPTURE(arguments);
    ranks.run(arguments);
    CHECK(ranks.all_ended_with(2));
    for (const int rank : {0, 1}) {
      CHECK(ranks.output_of(rank) == "runtime: " + name_of(1, 2) + difference + "\n");
    }
  };
  refused(folder.path() + " --repeats $((r + 2))",
          " has other work than rank 0: 'repeats: 2' there, 'repeats: 3' now");
  refused("$([ $r = 0 ] && echo " + folder.path() + " || echo " + other_images.path() + ")",
          " has other work than rank 0: 'images: 0 to 500' there, 'images: 0 to 501' now");
  ranks.run("$([ $r = 0 ] && echo " + folder.path() + " || echo " + other_network.path() + ")");
  CHECK(ranks.all_ended_with(2));
  CHECK(has(ranks.output_of(0), name_of(1, 2) + " has other work than rank 0: 'connections: "));
}

TEST_CASE("only rank 0 compares with the truth") {
  const RunFolder folder(kImages);
  Categories wrong = folder.expected().categories;
  wrong.pop_back();
  folder.write_truth(wrong);
  RankProcesses ranks(folder, 2);
  ranks.run_folder("");
  CHECK(ranks.statuses() == "5\n0\n");
  CHECK(ranks.output_of(1) == "");
}

}  // namespace winnow::challenge
