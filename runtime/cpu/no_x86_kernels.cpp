#include "runtime/cpu/micro_kernels.h"

namespace winnow {

const MicroKernels* avx2_kernels() {
  return nullptr;
}
const MicroKernels* avx512_kernels() {
  return nullptr;
}

}  // namespace winnow
