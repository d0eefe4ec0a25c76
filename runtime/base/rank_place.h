// Which of several processes this one is, as launchers say it: torchrun, mpirun and mpiexec, srun.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "runtime/base/environment.h"

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

// How long a rank may be silent before it counts as dead: WINNOW_RANK_TIMEOUT seconds, else 60. How
// long ranks wait for all to come: WINNOW_RANK_START_TIMEOUT seconds, else 300. Throw Error{usage}
// if that is no number from 2 (of the second: 1) to 86400.
std::chrono::seconds rank_timeout(const Environment& environment = process_environment);
std::chrono::seconds rank_start_timeout(const Environment& environment = process_environment);

// The name of this machine, for messages.
std::string machine_name();

}  // namespace winnow
