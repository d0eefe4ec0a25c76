#include "runtime/base/rank_place.h"

#include <doctest/doctest.h>

#include <map>
#include <utility>

#include "tests/throws.h"

namespace winnow {
namespace {

using Variables = std::map<std::string, std::string>;

Environment environment_of(const Variables& variables) {
  return [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

RankPlace place_in(const Variables& variables) {
  return rank_place(environment_of(variables));
}

}  // namespace

TEST_CASE("a process is alone where no launcher has set its variables") {
  CHECK(place_in({}).size == 1);
  CHECK(place_in({{"RANK", "3"}}).size == 1);
  // A script of sbatch is not a step of it.
  CHECK(place_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}).size == 1);
  CHECK(place_in({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).size == 1);
}

TEST_CASE("torchrun's variables name rank, size and the store that torchrun keeps") {
  const RankPlace place = place_in({{"RANK", "5"},
                                    {"WORLD_SIZE", "8"},
                                    {"LOCAL_RANK", "1"},
                                    {"MASTER_ADDR", "head"},
                                    {"MASTER_PORT", "4000"},
                                    {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                    {"TORCHELASTIC_RESTART_COUNT", "2"},
                                    {"SLURM_PROCID", "0"},
                                    {"SLURM_STEP_NUM_TASKS", "2"}});
  CHECK(place.rank == 5);
  CHECK(place.size == 8);
  CHECK(place.local_rank == 1);
  CHECK(place.host == "head");
  CHECK(place.port == 4000);
  CHECK(place.has_store);
  CHECK(place.start == "2");
}

TEST_CASE("mpirun's ranks meet on their machine, if they share one") {
  std::map<std::string, std::string> variables = {{"OMPI_COMM_WORLD_RANK", "1"},
                                                  {"OMPI_COMM_WORLD_SIZE", "4"},
                                                  {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                                  {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}};
  CHECK(place_in(variables).host == "127.0.0.1");
  CHECK(place_in(variables).port == 29500);
  CHECK(!place_in(variables).has_store);
  variables["OMPI_COMM_WORLD_LOCAL_SIZE"] = std::string("2");
  CHECK(error_of([&] { place_in(variables); }) == ErrorCode::usage);
  variables["MASTER_ADDR"] = std::string("10.0.0.7");
  CHECK(place_in(variables).host == "10.0.0.7");
  CHECK(place_in({{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}, {"MASTER_ADDR", "a"}}).local_rank == 2);
}

TEST_CASE("srun's ranks meet on the first machine of the step") {
  std::map<std::string, std::string> variables = {{"SLURM_PROCID", "3"},
                                                  {"SLURM_STEP_NUM_TASKS", "4"},
                                                  {"SLURM_LOCALID", "1"},
                                                  {"SLURM_JOB_ID", "70123"},
                                                  {"SLURM_STEP_NUM_NODES", "2"}};
  for (const auto& [list, host] :
       std::map<std::string, std::string>{{"gpu[07-09,12],cpu1", "gpu07"},
                                          {"a1,b[2-3]", "a1"},
                                          {"n[4,6]", "n4"},
                                          {"one", "one"}}) {
    variables["SLURM_STEP_NODELIST"] = list;
    CHECK(place_in(variables).host == host);
  }
  CHECK(place_in(variables).port == 29623);
  variables["SLURM_STEP_NUM_NODES"] = std::string("1");
  CHECK(place_in(variables).host == "127.0.0.1");
}

TEST_CASE("variables that are no ranks are refused by name") {
  const auto refused = [](const char* rank, const char* size) {
    const auto place = [&] {
      place_in({{"RANK", rank}, {"WORLD_SIZE", size}, {"MASTER_ADDR", "a"}});
    };
    CHECK(error_of(place) == ErrorCode::usage);
    return message_of(place);
  };
  CHECK(refused("4", "4") == "environment: RANK: found '4', expected a whole number from 0 to 3");
  refused("-1", "4");
  refused("one", "4");
  refused("0x1", "4");
  refused("1", "");
  refused("1", "0");
  refused("1", "99999999999999999999");
}

TEST_CASE("how long ranks wait is set in seconds") {
  const auto limits = [](const Variables& variables) {
    const Environment environment = environment_of(variables);
    return std::pair(rank_timeout(environment).count(), rank_start_timeout(environment).count());
  };
  CHECK(limits({}) == std::pair<std::int64_t, std::int64_t>(60, 300));
  CHECK(limits({{"WINNOW_RANK_TIMEOUT", "2"}, {"WINNOW_RANK_START_TIMEOUT", "1"}}) ==
        std::pair<std::int64_t, std::int64_t>(2, 1));
  for (const char* wrong : {"1", "x", "", "86401", "2.5"}) {
    CAPTURE(wrong);
    CHECK(error_of([&] { limits({{"WINNOW_RANK_TIMEOUT", wrong}}); }) == ErrorCode::usage);
  }
  CHECK(message_of([&] {
          limits({{"WINNOW_RANK_START_TIMEOUT", "0"}});
        }) ==
        "environment: WINNOW_RANK_START_TIMEOUT: found '0', expected a whole number from 1 to "
        "86400");
}

}  // namespace winnow
