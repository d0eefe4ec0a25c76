#include "runtime/cpu/cpu_features.h"

#include "runtime/base/error.h"

namespace winnow {
namespace {

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

std::vector<Isa> available_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (processor_has(isa) && table_of(isa)) isas.push_back(isa);
  }
  return isas;
}

const MicroKernels& micro_kernels(Isa isa) {
  if (!processor_has(isa)) fail(ErrorCode::usage, "this processor has no ", to_string(isa));
  const MicroKernels* table = table_of(isa);
  if (!table) fail(ErrorCode::usage, "this build has no ", to_string(isa), " kernels");
  return *table;
}

}  // namespace winnow
