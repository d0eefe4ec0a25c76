// A thread takes one column of a run of rows, so that a warp reads rows in pieces of 128 bytes.
#include "runtime/challenge/engines/cusparse/activations/dense_columns.h"

#include "runtime/challenge/engines/gpu/activation.cuh"
#include "runtime/device/cuda_check.h"

namespace winnow::challenge {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::int64_t kRowsPerBlock = 32;
constexpr std::int64_t kMostRowBlocks = 65535;  // what a grid holds

// ---------------------------------------------------------------------------------- device

__global__ void activate_columns_kernel(const DenseView z, const float* bias, std::uint8_t* alive) {
  const std::int64_t column = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (column >= z.columns) return;
  bool is_alive = false;
  for (std::int64_t r0 = blockIdx.y * kRowsPerBlock; r0 < z.rows; r0 += gridDim.y * kRowsPerBlock) {
    const std::int64_t end = min(r0 + kRowsPerBlock, z.rows);
#pragma unroll 4
    for (std::int64_t r = r0; r < end; ++r) {
      float* value = z.values + r * z.stride + column;
      const float result = activation(*value, bias[r]);
      *value = result;
      is_alive |= result != 0.0f;
    }
  }
  if (is_alive) alive[column] = 1;
}

__global__ void keep_columns_kernel(const DenseView from, const std::uint32_t* kept,
                                    const DenseView to) {
  const std::int64_t column = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (column >= to.columns) return;
  const float* source = from.values + kept[column];
  for (std::int64_t r0 = blockIdx.y * kRowsPerBlock; r0 < to.rows;
       r0 += gridDim.y * kRowsPerBlock) {
    const std::int64_t end = min(r0 + kRowsPerBlock, to.rows);
#pragma unroll 4
    for (std::int64_t r = r0; r < end; ++r) {
      to.values[r * to.stride + column] = source[r * from.stride];
    }
  }
}

// ------------------------------------------------------------------------------------ host

dim3 grid_over(const DenseView& matrix) {
  const std::int64_t row_blocks = (matrix.rows + kRowsPerBlock - 1) / kRowsPerBlock;
  return dim3(static_cast<unsigned>((matrix.columns + kThreads - 1) / kThreads),
              static_cast<unsigned>(row_blocks < kMostRowBlocks ? row_blocks : kMostRowBlocks));
}

}  // namespace

void activate_columns(const DenseView& z, const float* bias, std::uint8_t* alive,
                      cudaStream_t stream) {
  if (z.rows == 0 || z.columns == 0) return;
  activate_columns_kernel<<<grid_over(z), kThreads, 0, stream>>>(z, bias, alive);
  CUDA_CHECK(cudaGetLastError());
}

void keep_columns(const DenseView& from, const std::uint32_t* kept, const DenseView& to,
                  cudaStream_t stream) {
  if (to.rows == 0 || to.columns == 0) return;
  keep_columns_kernel<<<grid_over(to), kThreads, 0, stream>>>(from, kept, to);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace winnow::challenge
