// Compiled with -mavx512f and its kin; called only on machines that have them.
#include <immintrin.h>

namespace winnow {
namespace {

constexpr int kLanes = 16;
constexpr bool kWideRegisters = true;  // 32 vector registers

template <typename Vector>
inline Vector gather_lanes(const float* from, const int* offset) {
  // The masked form: g++ 12 warns of an uninitialised register in the plain one.
  return reinterpret_cast<Vector>(_mm512_mask_i32gather_ps(_mm512_setzero_ps(), __mmask16{0xffff},
                                                           _mm512_loadu_si512(offset), from, 4));
}

}  // namespace
}  // namespace winnow

#include "runtime/cpu/micro_kernels_for_isa.h"

namespace winnow {

const MicroKernels* avx512_kernels() {
  static const MicroKernels table = make_table(Isa::avx512);
  return &table;
}

}  // namespace winnow
