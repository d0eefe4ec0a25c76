// A block computes a tile of 32 images x 32 outputs, a thread one element of it. It goes along the
// inputs in steps of 32: a tile of Y and the tile of W that belongs to it are put into shared
// memory and multiplied as if both were dense. Tiles of W without a connection are passed over.
#include "runtime/challenge/engines/tiled/tiled_layer.h"

#include "runtime/challenge/engines/gpu/activation.cuh"
#include "runtime/device/cuda_check.h"

namespace winnow::challenge {
namespace {

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr std::uint32_t kNoInput = 0xffffffffu;
constexpr unsigned kThreads = 256;

// ---------------------------------------------------------------------------------- device

// Warp y works for image y of the tile, and fills column y of the tiles of W.
__global__ void __launch_bounds__(kTile* kTile) tiled_layer_kernel(const TiledCall c) {
  __shared__ float y_tile[kTile][kTile];      // [image][input]
  __shared__ float w_tile[kTile][kTile + 1];  // [input][output], columns on different banks
  __shared__ std::uint32_t next_input[kTile];

  const unsigned x = threadIdx.x, y = threadIdx.y;
  const std::uint32_t image = blockIdx.y * kTile + y;
  const std::uint32_t output = blockIdx.x * kTile + x;
  const bool is_live = image < c.images && c.empty_rows[image] == 0;  // of the whole warp
  if (__syncthreads_or(is_live) == 0) return;

  const std::uint32_t column = blockIdx.x * kTile + y;  // the output whose weights this warp reads
  const bool has_column = column < c.layer.outputs;
  std::uint32_t next = has_column ? c.layer.row_begin[column] : 0;
  const std::uint32_t end = has_column ? c.layer.row_begin[column + 1] : 0;
  const float* row = c.in + std::size_t{image} * c.layer.inputs;
  float sum = 0.0f;
  for (;;) {
    // Inputs ascend, so a tile holds the first few of these, 32 at most.
    const std::uint32_t input = next + x < end ? c.layer.input[next + x] : kNoInput;
    if (x == 0) next_input[y] = input;
    __syncthreads();  // the tiles of the last step have been read, too
    const std::uint32_t nearest = __reduce_min_sync(kAllLanes, next_input[x]);
    if (nearest == kNoInput) break;  // all warps see the same

    const std::uint32_t begin = nearest / kTile * kTile;
    w_tile[x][y] = 0.0f;
    __syncwarp();
    const bool is_inside = input != kNoInput && input - begin < kTile;
    if (is_inside) w_tile[input - begin][y] = c.layer.value[next + x];
    next += __popc(__ballot_sync(kAllLanes, is_inside));
    y_tile[y][x] = is_live && begin + x < c.layer.inputs ? row[begin + x] : 0.0f;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kTile; ++k) sum = fmaf(y_tile[y][k], w_tile[k][x], sum);
  }

  const bool is_element = is_live && output < c.layer.outputs;
  const float result = is_element ? activation(sum, c.layer.bias[output]) : 0.0f;
  if (is_element) c.out[std::size_t{image} * c.layer.outputs + output] = result;
  const int nonzeros = __popc(__ballot_sync(kAllLanes, result != 0.0f));
  if (x == 0 && nonzeros > 0) atomicAdd(c.nonzero_count + image, nonzeros);
}

__global__ void count_ones_kernel(const std::uint64_t* row_begin, std::uint32_t images,
                                  std::uint32_t* nonzero_count) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < images) nonzero_count[i] = static_cast<std::uint32_t>(row_begin[i + 1] - row_begin[i]);
}

__global__ void find_empty_rows_kernel(const std::uint32_t* nonzero_count, std::uint32_t images,
                                       std::uint8_t* empty_rows, std::uint32_t* live) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  const bool is_live = i < images && nonzero_count[i] > 0;
  if (i < images) empty_rows[i] = is_live ? 0 : 1;
  const int lives = __syncthreads_count(is_live);
  if (threadIdx.x == 0 && lives > 0) atomicAdd(live, lives);
}

// ------------------------------------------------------------------------------------ host

unsigned blocks_of(std::uint32_t count, std::uint32_t size) {
  return count / size + (count % size == 0 ? 0 : 1);
}

}  // namespace

void tiled_layer(const TiledCall& call, cudaStream_t stream) {
  if (call.images == 0 || call.layer.outputs == 0) return;
  CUDA_CHECK(cudaMemsetAsync(call.nonzero_count, 0, call.images * sizeof(std::uint32_t), stream));
  const dim3 grid(blocks_of(call.layer.outputs, kTile), blocks_of(call.images, kTile));
  tiled_layer_kernel<<<grid, dim3(kTile, kTile), 0, stream>>>(call);
  CUDA_CHECK(cudaGetLastError());
}

void count_ones(const DeviceImages& images, std::uint32_t first, std::uint32_t last,
                std::uint32_t* nonzero_count, cudaStream_t stream) {
  if (first == last) return;
  count_ones_kernel<<<blocks_of(last - first, kThreads), kThreads, 0, stream>>>(
      images.row_begin.get() + first, last - first, nonzero_count);
  CUDA_CHECK(cudaGetLastError());
}

void find_empty_rows(const std::uint32_t* nonzero_count, std::uint32_t images,
                     std::uint8_t* empty_rows, std::uint32_t* live, cudaStream_t stream) {
  if (images == 0) return;
  find_empty_rows_kernel<<<blocks_of(images, kThreads), kThreads, 0, stream>>>(
      nonzero_count, images, empty_rows, live);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace winnow::challenge
