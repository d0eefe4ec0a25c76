// The variables by which launchers tell a process which rank it is.
#pragma once

namespace winnow {

// Of rank $r of $n on one machine.
struct Launcher {
  const char* name;
  const char* variables;
};
inline constexpr Launcher kTorchrun = {"torchrun",
                                       "RANK=$r LOCAL_RANK=$r WORLD_SIZE=$n MASTER_ADDR=127.0.0.1"};
inline constexpr Launcher kOpenMpi = {
    "Open MPI",
    "OMPI_COMM_WORLD_RANK=$r OMPI_COMM_WORLD_SIZE=$n OMPI_COMM_WORLD_LOCAL_RANK=$r "
    "OMPI_COMM_WORLD_LOCAL_SIZE=$n"};
inline constexpr Launcher kMpich = {
    "MPICH", "PMI_RANK=$r PMI_SIZE=$n MPI_LOCALRANKID=$r MPI_LOCALNRANKS=$n"};
inline constexpr Launcher kSlurm = {
    "SLURM",
    "SLURM_JOB_ID=17 SLURM_PROCID=$r SLURM_STEP_NUM_TASKS=$n SLURM_LOCALID=$r "
    "SLURM_STEP_NUM_NODES=1 SLURM_STEP_NODELIST=here"};

}  // namespace winnow
