// Compiled with -mavx2 -mfma; called only on machines that have them.
#include <immintrin.h>

namespace winnow::challenge {
namespace {

constexpr int kLanes = 8;
constexpr int kVectors = 1;  // 8 outputs times 1 of the 16 registers are sums

using Vector __attribute__((vector_size(32), may_alias)) = float;

inline Vector larger(Vector a, Vector b) {
  return _mm256_max_ps(a, b);
}
inline Vector smaller(Vector a, Vector b) {
  return _mm256_min_ps(a, b);
}
inline Vector plus_bias(Vector z, float bias) {
  const Vector is_not_zero = _mm256_cmp_ps(z, Vector{}, _CMP_NEQ_UQ);
  return _mm256_and_ps(is_not_zero, _mm256_add_ps(z, _mm256_set1_ps(bias)));
}

}  // namespace
}  // namespace winnow::challenge

#include "runtime/challenge/engines/cpu/kernels/tile_kernels_for_isa.h"

namespace winnow::challenge {

TileKernel avx2_tile_kernel() {
  return run_tiles;
}

}  // namespace winnow::challenge
