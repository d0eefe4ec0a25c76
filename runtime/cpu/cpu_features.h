// What this machine's processor is and can do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/cpu/micro_kernels.h"

namespace winnow {

std::string_view to_string(Isa isa);  // "baseline", "avx2", "avx512"

// The instruction sets that this machine runs and this build has, the widest last.
std::vector<Isa> available_isas();

// Throws Error{usage} if the machine or the build lacks it.
const MicroKernels& micro_kernels(Isa isa);

// "Intel(R) Xeon(R) Processor", from /proc/cpuinfo; "unknown processor" where that has no name.
std::string cpu_model_name();

}  // namespace winnow
