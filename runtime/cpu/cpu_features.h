// The tables of micro kernels that this machine can run.
#pragma once

#include <vector>

#include "runtime/base/processor.h"
#include "runtime/cpu/micro_kernels.h"

namespace winnow {

// The instruction sets that this machine runs and this build has, the widest last.
std::vector<Isa> available_isas();

// Throws Error{usage} if the machine or the build lacks it.
const MicroKernels& micro_kernels(Isa isa);

}  // namespace winnow
