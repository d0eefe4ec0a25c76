// `runtime challenge run` as two processes on two GPUs of one machine.
#include <doctest/doctest.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "runtime/base/rank_place.h"
#include "tests/challenge/ranks/rank_processes.h"
#include "tests/challenge/ranks/two_gpus.h"

namespace winnow::challenge {

TEST_CASE("two processes on a GPU each give the categories of one") {
  if (lacks_two_gpus()) return;
  const RunFolder folder(500);
  RankProcesses ranks(folder, 2);
  ranks.run_folder("--engine fused --baseline grouped --json " + folder.file("run.json"));
  INFO(ranks.output_of(0));
  INFO(ranks.output_of(1));
  CHECK(ranks.all_ended_with(0));
  const nlohmann::json json = folder.json();
  CHECK(json["truth"]["equal"] == true);
  CHECK(json["baseline"]["equal_categories"] == true);
  CHECK(json["kernel"].get<std::string>().find("gathered by NCCL") != std::string::npos);
  CHECK(json["ranks"][0]["device"].get<std::string>().find("cuda:0") == 0);
  CHECK(json["ranks"][1]["device"].get<std::string>().find("cuda:1") == 0);
}

TEST_CASE("a process on a GPU that is killed is named by the other, soon") {
  if (lacks_two_gpus()) return;
  const RunFolder folder(500);
  RankProcesses ranks(folder, 2);
  ranks.run_folder(
      "--engine fused --repeats 1000000",
      ranks.until_running() + "sleep 2; kill -9 $pid; date +%s > " + folder.file("killed"));
  CHECK(std::time(nullptr) - std::stol(read_text_file(folder.file("killed"))) < 20);
  CHECK(ranks.statuses() == "4\n137\n");
  CHECK(last_line(ranks.output_of(0)) ==
        "runtime: rank 1 of 2 on " + machine_name() + " has ended before it was done");
}

}  // namespace winnow::challenge
