// Compiled with -mavx512f and its kin; called only on machines that have them.
#include <immintrin.h>

namespace winnow::challenge {
namespace {

constexpr int kLanes = 16;
constexpr int kVectors = 2;  // 8 outputs times 2 of the 32 registers are sums

using Vector __attribute__((vector_size(64), may_alias)) = float;

// The masked forms: g++ 12 warns of an uninitialised register in the others.
constexpr __mmask16 kAll = 0xffff;

inline Vector larger(Vector a, Vector b) {
  return _mm512_maskz_max_ps(kAll, a, b);
}
inline Vector smaller(Vector a, Vector b) {
  return _mm512_maskz_min_ps(kAll, a, b);
}
inline Vector plus_bias(Vector z, float bias) {
  const __mmask16 is_not_zero = _mm512_cmp_ps_mask(z, Vector{}, _CMP_NEQ_UQ);
  return _mm512_maskz_add_ps(is_not_zero, z, _mm512_set1_ps(bias));
}

}  // namespace
}  // namespace winnow::challenge

#include "runtime/challenge/engines/cpu/kernels/tile_kernels_for_isa.h"

namespace winnow::challenge {

TileKernel avx512_tile_kernel() {
  return run_tiles;
}

}  // namespace winnow::challenge
