// What a convolution multiplies its weights with, as a matrix in device memory (im2col), and other
// element types for it. For benchmarks of libraries that have no convolution.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/device/buffer.h"
#include "runtime/model/graph.h"
#include "runtime/plan/layout.h"

namespace winnow {

struct ColumnShape {
  Conv conv;
  Extents in, out;  // of the convolution

  std::int64_t pixels() const { return out.n * out.h * out.w; }
  std::int64_t columns() const { return conv.in_channels * conv.kernel[0] * conv.kernel[1]; }
};

enum class ColumnOrder {
  by_pixel,   // [pixels][R, S, C], from an input in NHWC
  by_column,  // [C, R, S][pixels], from an input in NCHW
};

// Whether the input is the matrix of by_pixel as it lies: kernels of one pixel, without a stride.
bool is_input(const ColumnShape& shape);

// Enqueues the gathering of all columns; zeros for pixels outside of the map.
//
//   element_bytes  1 or 2; by_column takes 2. By pixel, channels are a multiple of 16 bytes.
//
// Throws Error{usage} for other sizes, Error{device} if the launch is refused.
void gather_columns(const ColumnShape& shape, ColumnOrder order, int element_bytes, const void* in,
                    void* columns, cudaStream_t stream);

// Enqueues out[c][r] = in[r][c] of half floats; in is [rows][columns].
void transpose_halves(const void* in, std::int64_t rows, std::int64_t columns, void* out,
                      cudaStream_t stream);

// Elements of 8 bits: e4m3 as they are, int8 as 127 times the value, clamped.
enum class Narrow { e4m3, int8 };

// Enqueues the conversion of `count` half floats.
void narrow_halves(Narrow type, const void* in, std::int64_t count, void* out, cudaStream_t stream);

// Enqueues out[i] = scale * in[i] as half floats, from int8.
void widen_int8(const void* in, std::int64_t count, float scale, void* out, cudaStream_t stream);

}  // namespace winnow
