#include "runtime/base/rank_place.h"

#include <unistd.h>

#include "runtime/base/error.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostRanks = 4096;
constexpr std::int64_t kFirstPort = 29500;  // as torchrun's
constexpr std::int64_t kLongestWait = 86400;

struct Launcher {
  const char* name;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;  // ranks of this machine; or, for srun, how many machines there are
};
constexpr Launcher kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"mpiexec", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_NUM_NODES"}};

// "node[07-09,12],other" as "node07"; empty if there is no name.
std::string first_host(const std::string& list) {
  const std::size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
  const std::size_t end = list.find_first_of("-,]", bracket);
  if (end == std::string::npos) return "";
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1);
}

std::string meeting_host(const Environment& environment, const Launcher& launcher,
                         std::int64_t size) {
  if (const auto host = environment("MASTER_ADDR"); host && !host->empty()) return *host;
  const bool is_slurm = std::string(launcher.name) == "srun";
  const auto local = environment_number(environment, launcher.local_size, 1, kMostRanks);
  if (local && *local == (is_slurm ? 1 : size)) return "127.0.0.1";
  const auto nodes = is_slurm ? environment("SLURM_STEP_NODELIST") : std::nullopt;
  std::string host = nodes ? first_host(*nodes) : "";
  if (host.empty()) {
    fail(ErrorCode::usage, "environment: MASTER_ADDR is missing: ", launcher.name, " started ",
         size, " ranks, and where rank 0 runs is not known");
  }
  return host;
}

std::uint16_t meeting_port(const Environment& environment) {
  const auto given = environment_number(environment, "MASTER_PORT", 1, 65535);
  const auto job = environment_number(environment, "SLURM_JOB_ID", 0, std::int64_t{1} << 62);
  return static_cast<std::uint16_t>(given.value_or(kFirstPort + job.value_or(0) % 1000));
}

RankPlace place_of(const Environment& environment, const Launcher& launcher) {
  RankPlace place;
  place.size = environment_number(environment, launcher.size, 1, kMostRanks).value_or(1);
  if (place.size == 1) return place;
  place.rank = environment_number(environment, launcher.rank, 0, place.size - 1).value_or(0);
  place.local_rank =
      environment_number(environment, launcher.local_rank, 0, place.size - 1).value_or(place.rank);
  place.host = meeting_host(environment, launcher, place.size);
  place.port = meeting_port(environment);
  place.has_store = environment("TORCHELASTIC_USE_AGENT_STORE").value_or("") == "True";
  place.start = environment("TORCHELASTIC_RESTART_COUNT").value_or("0");
  return place;
}

}  // namespace

RankPlace rank_place(const Environment& environment) {
  for (const Launcher& launcher : kLaunchers) {
    if (environment(launcher.rank) && environment(launcher.size)) {
      return place_of(environment, launcher);
    }
  }
  return {};
}

std::chrono::seconds rank_timeout(const Environment& environment) {
  return std::chrono::seconds(
      environment_number(environment, "WINNOW_RANK_TIMEOUT", 2, kLongestWait).value_or(60));
}

std::chrono::seconds rank_start_timeout(const Environment& environment) {
  return std::chrono::seconds(
      environment_number(environment, "WINNOW_RANK_START_TIMEOUT", 1, kLongestWait).value_or(300));
}

std::string machine_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "a machine without a name";
}

}  // namespace winnow
