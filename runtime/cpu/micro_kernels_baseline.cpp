// Compiled for the oldest machine of the architecture: SSE2 on x86-64.
namespace winnow {
namespace {

constexpr int kLanes = 4;
constexpr bool kWideRegisters = false;

template <typename Vector>
inline Vector gather_lanes(const float* from, const int* offset) {
  return Vector{from[offset[0]], from[offset[1]], from[offset[2]], from[offset[3]]};
}

}  // namespace
}  // namespace winnow

#include "runtime/cpu/micro_kernels_for_isa.h"

namespace winnow {

const MicroKernels* baseline_kernels() {
  static const MicroKernels table = make_table(Isa::baseline);
  return &table;
}

}  // namespace winnow
