// Which of several processes this one is, as launchers say it: torchrun, mpirun and mpiexec, srun.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace winnow {

struct RankPlace {
  std::int64_t rank = 0;
  std::int64_t size = 1;        // ranks in all
  std::int64_t local_rank = 0;  // among those of this machine
  std::string host;             // of rank 0
  std::uint16_t port = 0;       // where rank 0 keeps the store that ranks meet at
  bool has_store = false;       // the launcher keeps it instead, as torchrun does
  std::string start;            // tells starts apart that use one store
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// The variables of this process.
std::optional<std::string> process_environment(const std::string& name);

// One process of its own where no launcher has set its variables:
//   torchrun  RANK, WORLD_SIZE, LOCAL_RANK
//   mpirun    OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK (Open MPI); PMI_RANK, PMI_SIZE,
//             MPI_LOCALRANKID (MPICH, Intel MPI)
//   srun      SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID
// MASTER_ADDR and MASTER_PORT say where the ranks meet. Without them it is this machine, if all
// ranks are on it, or the first of SLURM_STEP_NODELIST; and port 29500, plus the job's number mod
// 1000 under SLURM. Throws Error{usage} with the variable's name if one is no number, out of range
// or missing.
RankPlace rank_place(const Environment& environment = process_environment);

}  // namespace winnow
