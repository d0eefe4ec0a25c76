#include "runtime/base/error.h"
#include "runtime/cpu/copy_rows.h"
#include "runtime/cpu/max_rows.h"
#include "runtime/cpu/micro_kernels.h"
#include "runtime/cpu/row_kernel.h"

namespace winnow {

const MicroKernels* avx2_kernels() {
  return nullptr;
}
const MicroKernels* avx512_kernels() {
  return nullptr;
}

void copy_rows(const RowCopy&, float*) {
  fail(ErrorCode::internal, "copy_rows() needs AVX-512");
}
void max_pairs(const float*, const float*, std::int64_t, float*) {
  fail(ErrorCode::internal, "max_pairs() needs AVX-512");
}
void max_row(const float*, std::int64_t, float*) {
  fail(ErrorCode::internal, "max_row() needs AVX-512");
}
void max_every_second(const float*, std::int64_t, std::int64_t, float*) {
  fail(ErrorCode::internal, "max_every_second() needs AVX-512");
}
int row_channels(int) {
  return 1;
}
void run_row_tile(int, const RowTile&) {
  fail(ErrorCode::internal, "run_row_tile() needs AVX-512");
}

}  // namespace winnow
