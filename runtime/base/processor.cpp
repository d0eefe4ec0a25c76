#include "runtime/base/processor.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace winnow {
namespace {

// What /proc/cpuinfo says of the first core; empty if nothing.
std::string first_fact(std::string_view name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(name) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

}  // namespace

std::string_view to_string(Isa isa) {
  switch (isa) {
    case Isa::baseline:
      return "baseline";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
  }
  return "unknown";
}

bool processor_has(Isa isa) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_cpu_init();
  switch (isa) {
    case Isa::baseline:
      return true;
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::avx512:
      return processor_has(Isa::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
  }
#endif
  return isa == Isa::baseline;
}

std::string cpu_model_name() {
  const std::string name = first_fact("model name");
  return name.empty() ? "unknown processor" : name;
}

double processor_clock_mhz() {
  return std::strtod(first_fact("cpu MHz").c_str(), nullptr);
}

std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string cpu_device_name(int threads, std::string_view more) {
  return "cpu (" + cpu_model_name() + ", " + std::to_string(threads) +
         (threads == 1 ? " thread" : " threads") + std::string(more) + ")";
}

}  // namespace winnow
