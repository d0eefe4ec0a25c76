// Compiled with -mavx2 -mfma; called only on machines that have them.
#include <immintrin.h>

namespace winnow {
namespace {

constexpr int kLanes = 8;
constexpr bool kWideRegisters = false;

template <typename Vector>
inline Vector gather_lanes(const float* from, const int* offset) {
  const __m256i index = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offset));
  return reinterpret_cast<Vector>(_mm256_i32gather_ps(from, index, 4));
}

}  // namespace
}  // namespace winnow

#include "runtime/cpu/micro_kernels_for_isa.h"

namespace winnow {

const MicroKernels* avx2_kernels() {
  static const MicroKernels table = make_table(Isa::avx2);
  return &table;
}

}  // namespace winnow
