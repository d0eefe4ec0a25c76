#include "runtime/cpu/cpu_features.h"

#include <fstream>

#include "runtime/base/error.h"

namespace winnow {
namespace {

bool machine_has(Isa isa) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_cpu_init();
  switch (isa) {
    case Isa::baseline:
      return true;
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::avx512:
      return machine_has(Isa::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
  }
#endif
  return isa == Isa::baseline;
}

const MicroKernels* table_of(Isa isa) {
  switch (isa) {
    case Isa::baseline:
      return baseline_kernels();
    case Isa::avx2:
      return avx2_kernels();
    case Isa::avx512:
      return avx512_kernels();
  }
  return nullptr;
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

std::vector<Isa> available_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (machine_has(isa) && table_of(isa)) isas.push_back(isa);
  }
  return isas;
}

const MicroKernels& micro_kernels(Isa isa) {
  if (!machine_has(isa)) fail(ErrorCode::usage, "this processor has no ", to_string(isa));
  const MicroKernels* table = table_of(isa);
  if (!table) fail(ErrorCode::usage, "this build has no ", to_string(isa), " kernels");
  return *table;
}

std::string cpu_model_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace winnow
