#include "runtime/challenge/engines/cpu/kernels/tile_kernels.h"

namespace winnow::challenge {

TileKernel avx2_tile_kernel() {
  return nullptr;
}
TileKernel avx512_tile_kernel() {
  return nullptr;
}

}  // namespace winnow::challenge
