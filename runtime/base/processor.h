// What this machine's processor is and can do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/isa.h"

namespace winnow {

std::string_view to_string(Isa isa);  // "baseline", "avx2", "avx512"

// Whether this machine runs all that kernels for `isa` are compiled with: AVX2 and FMA; AVX-512 F,
// BW, DQ and VL.
bool processor_has(Isa isa);

// "Intel(R) Xeon(R) Processor", from /proc/cpuinfo; "unknown processor" where that has no name.
std::string cpu_model_name();

// What the system says of the first core's clock at this moment; 0 where it says nothing.
double processor_clock_mhz();

// "cpu (Intel(R) Xeon(R) Processor, 2 threads)"; `more` is put before the bracket.
std::string cpu_device_name(int threads, std::string_view more = "");

// Bytes of RAM in this machine.
std::uint64_t physical_memory();

}  // namespace winnow
