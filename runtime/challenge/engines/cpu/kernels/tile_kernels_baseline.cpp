// Compiled for the oldest machine of the architecture: SSE2 on x86-64.
namespace winnow::challenge {
namespace {

constexpr int kLanes = 4;
constexpr int kVectors = 1;

using Vector __attribute__((vector_size(16), may_alias)) = float;

inline Vector larger(Vector a, Vector b) {
  return a > b ? a : b;
}
inline Vector smaller(Vector a, Vector b) {
  return a < b ? a : b;
}
inline Vector plus_bias(Vector z, float bias) {
  return z != Vector{} ? z + bias : Vector{};
}

}  // namespace
}  // namespace winnow::challenge

#include "runtime/challenge/engines/cpu/kernels/tile_kernels_for_isa.h"

namespace winnow::challenge {

TileKernel baseline_tile_kernel() {
  return run_tiles;
}

}  // namespace winnow::challenge
