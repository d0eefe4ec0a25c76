#include "runtime/base/rank_place.h"

#include <charconv>
#include <cstdlib>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostRanks = 4096;
constexpr std::int64_t kFirstPort = 29500;  // as torchrun's

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

std::optional<std::int64_t> number(const Environment& environment, const std::string& name,
                                   std::int64_t lowest, std::int64_t highest) {
  const std::optional<std::string> text = environment(name);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [last, problem] = std::from_chars(text->data(), end, value);
  if (problem != std::errc() || last != end || value < lowest || value > highest) {
    fail(ErrorCode::usage, "environment: ", name, ": found ", in_quotes(*text),
         ", expected a whole number from ", lowest, " to ", highest);
  }
  return value;
}

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
  const auto local = number(environment, launcher.local_size, 1, kMostRanks);
  if (local && *local == (is_slurm ? 1 : size)) return "127.0.0.1";
  const auto nodes = is_slurm ? environment("SLURM_STEP_NODELIST") : std::nullopt;
  const std::string host = nodes ? first_host(*nodes) : "";
  if (host.empty()) {
    fail(ErrorCode::usage, "environment: MASTER_ADDR is missing: ", launcher.name, " started ",
         size, " ranks, and where rank 0 runs is not known");
  }
  return host;
}

std::uint16_t meeting_port(const Environment& environment) {
  const auto given = number(environment, "MASTER_PORT", 1, 65535);
  const auto job = number(environment, "SLURM_JOB_ID", 0, std::int64_t{1} << 62);
  return static_cast<std::uint16_t>(given.value_or(kFirstPort + job.value_or(0) % 1000));
}

RankPlace place_of(const Environment& environment, const Launcher& launcher) {
  RankPlace place;
  place.size = number(environment, launcher.size, 1, kMostRanks).value_or(1);
  if (place.size == 1) return place;
  place.rank = number(environment, launcher.rank, 0, place.size - 1).value_or(0);
  place.local_rank =
      number(environment, launcher.local_rank, 0, place.size - 1).value_or(place.rank);
  place.host = meeting_host(environment, launcher, place.size);
  place.port = meeting_port(environment);
  place.has_store = environment("TORCHELASTIC_USE_AGENT_STORE").value_or("") == "True";
  place.start = environment("TORCHELASTIC_RESTART_COUNT").value_or("0");
  return place;
}

}  // namespace

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

RankPlace rank_place(const Environment& environment) {
  for (const Launcher& launcher : kLaunchers) {
    if (environment(launcher.rank) && environment(launcher.size)) {
      return place_of(environment, launcher);
    }
  }
  return {};
}

}  // namespace winnow
