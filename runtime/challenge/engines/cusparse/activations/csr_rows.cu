#include "runtime/challenge/engines/cusparse/activations/csr_rows.h"

#include "runtime/challenge/engines/gpu/activation.cuh"
#include "runtime/device/cuda_check.h"

namespace winnow::challenge {
namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kThreads = 256;
constexpr unsigned kWarpsPerBlock = kThreads / kWarp;
constexpr unsigned kAllLanes = 0xffffffffu;

// ---------------------------------------------------------------------------------- device

__global__ void load_bounds_kernel(const std::uint64_t* row_begin, std::uint32_t rows,
                                   std::int32_t* begin) {
  const std::uint32_t r = blockIdx.x * kThreads + threadIdx.x;
  if (r <= rows) begin[r] = static_cast<std::int32_t>(row_begin[r] - row_begin[0]);
}

__global__ void fill_ones_kernel(float* value, std::uint64_t count) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    value[i] = 1.0f;
  }
}

// One warp a row, for this and the next kernel.
__global__ void count_activated_kernel(const CsrView z, const float* bias, std::int32_t* counts) {
  const std::int32_t row =
      static_cast<std::int32_t>(blockIdx.x * kWarpsPerBlock + threadIdx.x / kWarp);
  if (row > z.rows) return;
  const unsigned lane = threadIdx.x % kWarp;
  int count = 0;
  if (row < z.rows) {
    const std::int32_t end = z.begin[row + 1];
    for (std::int32_t k = z.begin[row] + static_cast<std::int32_t>(lane); k < end; k += kWarp) {
      count += activation(z.value[k], bias[z.column[k]]) != 0.0f ? 1 : 0;
    }
  }
  count = __reduce_add_sync(kAllLanes, count);
  if (lane == 0) counts[row] = count;
}

__global__ void store_activated_kernel(const CsrView z, const float* bias,
                                       const std::int32_t* begin, std::int32_t* column,
                                       float* value) {
  const std::int32_t row =
      static_cast<std::int32_t>(blockIdx.x * kWarpsPerBlock + threadIdx.x / kWarp);
  if (row >= z.rows) return;
  const unsigned lane = threadIdx.x % kWarp;
  const std::int32_t end = z.begin[row + 1];
  std::int32_t next = begin[row];
  for (std::int32_t k0 = z.begin[row]; k0 < end; k0 += kWarp) {  // all lanes stay together
    const std::int32_t k = k0 + static_cast<std::int32_t>(lane);
    const std::int32_t of = k < end ? z.column[k] : 0;
    const float result = k < end ? activation(z.value[k], bias[of]) : 0.0f;
    const unsigned kept = __ballot_sync(kAllLanes, result != 0.0f);
    if (result != 0.0f) {
      const std::int32_t place = next + __popc(kept & ((1u << lane) - 1));
      column[place] = of;
      value[place] = result;
    }
    next += __popc(kept);
  }
}

__global__ void flag_rows_kernel(const std::int32_t* begin, std::int32_t rows,
                                 std::uint8_t* alive) {
  const auto r = static_cast<std::int32_t>(blockIdx.x * kThreads + threadIdx.x);
  if (r < rows) alive[r] = begin[r + 1] > begin[r] ? 1 : 0;
}

__global__ void gather_bounds_kernel(const std::int32_t* begin, std::int32_t rows,
                                     const std::uint32_t* kept_row, const std::uint32_t* kept,
                                     std::int32_t* kept_begin) {
  const std::uint32_t k = blockIdx.x * kThreads + threadIdx.x;
  if (k < *kept) kept_begin[k] = begin[kept_row[k]];
  if (k == *kept) kept_begin[k] = begin[rows];
}

__global__ void rebase_bounds_kernel(const std::int32_t* begin, std::int32_t rows,
                                     std::int32_t* rebased) {
  const auto r = static_cast<std::int32_t>(blockIdx.x * kThreads + threadIdx.x);
  if (r <= rows) rebased[r] = begin[r] - begin[0];
}

// ------------------------------------------------------------------------------------ host

// Blocks for `count` + 1 items, `per_block` in each.
unsigned blocks_past(std::uint32_t count, unsigned per_block) {
  return count / per_block + 1;
}
unsigned blocks_past(std::int32_t count, unsigned per_block) {
  return blocks_past(static_cast<std::uint32_t>(count), per_block);
}

}  // namespace

void load_rows(const DeviceImages& images, RowBounds rows, std::int32_t* begin,
               std::int32_t* column, float* value, cudaStream_t stream) {
  const std::uint32_t count = rows.last - rows.first;
  load_bounds_kernel<<<blocks_past(count, kThreads), kThreads, 0, stream>>>(
      images.row_begin.get() + rows.first, count, begin);
  CUDA_CHECK(cudaGetLastError());
  if (rows.ones == 0) return;
  CUDA_CHECK(cudaMemcpyAsync(column, images.neuron.get() + rows.first_one,
                             rows.ones * sizeof(std::int32_t), cudaMemcpyDeviceToDevice, stream));
  constexpr unsigned kFillBlocks = 1024;
  fill_ones_kernel<<<kFillBlocks, kThreads, 0, stream>>>(value, rows.ones);
  CUDA_CHECK(cudaGetLastError());
}

void count_activated(const CsrView& z, const float* bias, std::int32_t* counts,
                     cudaStream_t stream) {
  count_activated_kernel<<<blocks_past(z.rows, kWarpsPerBlock), kThreads, 0, stream>>>(z, bias,
                                                                                       counts);
  CUDA_CHECK(cudaGetLastError());
}

void store_activated(const CsrView& z, const float* bias, const std::int32_t* begin,
                     std::int32_t* column, float* value, cudaStream_t stream) {
  store_activated_kernel<<<blocks_past(z.rows, kWarpsPerBlock), kThreads, 0, stream>>>(
      z, bias, begin, column, value);
  CUDA_CHECK(cudaGetLastError());
}

void flag_rows(const std::int32_t* begin, std::int32_t rows, std::uint8_t* alive,
               cudaStream_t stream) {
  flag_rows_kernel<<<blocks_past(rows, kThreads), kThreads, 0, stream>>>(begin, rows, alive);
  CUDA_CHECK(cudaGetLastError());
}

void gather_bounds(const std::int32_t* begin, std::int32_t rows, const std::uint32_t* kept_row,
                   const std::uint32_t* kept, std::int32_t* kept_begin, cudaStream_t stream) {
  gather_bounds_kernel<<<blocks_past(rows, kThreads), kThreads, 0, stream>>>(begin, rows, kept_row,
                                                                             kept, kept_begin);
  CUDA_CHECK(cudaGetLastError());
}

void rebase_bounds(const std::int32_t* begin, std::int32_t rows, std::int32_t* rebased,
                   cudaStream_t stream) {
  rebase_bounds_kernel<<<blocks_past(rows, kThreads), kThreads, 0, stream>>>(begin, rows, rebased);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace winnow::challenge
