// A block of 1024 rows counts the rows kept before it by itself: reading a flag a byte again costs
// less than a second kernel or waiting for other blocks, for as many images as the challenge has.
#include "runtime/challenge/engines/cusparse/activations/live_rows.h"
#include "runtime/base/error.h"
#include "runtime/device/cuda_check.h"

namespace winnow::challenge {
namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kThreads = 1024;
constexpr unsigned kWarps = kThreads / kWarp;
static_assert(kWarps == kWarp, "a warp adds up one number of every warp");
constexpr unsigned kAllLanes = 0xffffffffu;

// ---------------------------------------------------------------------------------- device

// Flags that are not 0 among the first `rows` (a multiple of 4) that this thread looks at.
__device__ std::uint32_t count_alive(const std::uint8_t* alive, std::uint32_t rows) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(alive);
  std::uint32_t sum = 0;
  for (std::uint32_t i = threadIdx.x; i < rows / 4; i += kThreads) {
    sum += __popc(__vsetne4(words[i], 0u));
  }
  return sum;
}

__global__ void __launch_bounds__(kThreads) select_rows_kernel(const RowSelection s) {
  const std::uint32_t rows = s.count != nullptr ? min(*s.count, s.rows) : s.rows;
  const std::uint32_t begin = blockIdx.x * kThreads;
  if (begin >= rows && blockIdx.x > 0) return;  // block 0 stays to write a count of 0

  __shared__ std::uint32_t before_block[kWarps], in_warp[kWarps];
  const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const std::uint32_t row = begin + threadIdx.x;
  const bool is_kept = row < rows && s.alive[row] != 0;
  const std::uint32_t before = __reduce_add_sync(kAllLanes, count_alive(s.alive, begin));
  const std::uint32_t ballot = __ballot_sync(kAllLanes, is_kept);
  if (lane == 0) {
    before_block[warp] = before;
    in_warp[warp] = __popc(ballot);
  }
  __syncthreads();

  const std::uint32_t base = __reduce_add_sync(kAllLanes, before_block[lane]);
  const std::uint32_t earlier = __reduce_add_sync(kAllLanes, lane < warp ? in_warp[lane] : 0u);
  if (is_kept) {
    const std::uint32_t k = base + earlier + __popc(ballot & ((1u << lane) - 1));
    if (s.kept_row != nullptr) s.kept_row[k] = row;
    if (s.kept_id != nullptr) s.kept_id[k] = s.ids != nullptr ? s.ids[row] : row;
  }
  if (s.cleared != nullptr && row < rows) s.cleared[row] = 0;

  const bool is_last_block = rows - begin <= kThreads;  // begin <= rows here
  if (is_last_block && warp == 0) {
    const std::uint32_t total = base + __reduce_add_sync(kAllLanes, in_warp[lane]);
    if (lane == 0) *s.kept_count = total;
  }
}

__global__ void number_rows_kernel(std::uint32_t first, std::uint32_t images, std::uint32_t* ids,
                                   std::uint32_t* count) {
  const std::uint32_t row = blockIdx.x * kThreads + threadIdx.x;
  if (row < images) ids[row] = first + row;
  if (row == 0) *count = images;
}

// ------------------------------------------------------------------------------------ host

// At least one block, which writes the count.
unsigned blocks_for(std::uint32_t rows) {
  return rows == 0 ? 1 : (rows - 1) / kThreads + 1;
}

}  // namespace

void select_rows(const RowSelection& selection, cudaStream_t stream) {
  select_rows_kernel<<<blocks_for(selection.rows), kThreads, 0, stream>>>(selection);
  CUDA_CHECK(cudaGetLastError());
}

LiveRows::LiveRows(std::uint32_t capacity)
    : capacity_(capacity),
      alive_{DeviceBuffer<std::uint8_t>(capacity), DeviceBuffer<std::uint8_t>(capacity)},
      ids_{DeviceBuffer<std::uint32_t>(capacity), DeviceBuffer<std::uint32_t>(capacity)},
      rows_(capacity),
      count_(2) {}

void LiveRows::reset(std::uint32_t first, std::uint32_t images, cudaStream_t stream) {
  if (images > capacity_) {
    fail(ErrorCode::internal, "live rows: ", images, " images, at most ", capacity_);
  }
  turn_ = 0;
  number_rows_kernel<<<blocks_for(images), kThreads, 0, stream>>>(first, images, ids_[0].get(),
                                                                  count_.get());
  CUDA_CHECK(cudaGetLastError());
  if (images > 0) CUDA_CHECK(cudaMemsetAsync(alive_[0].get(), 0, images, stream));
}

void LiveRows::keep(cudaStream_t stream) {
  const int next = 1 - turn_;
  select_rows({.alive = alive_[turn_].get(),
               .rows = capacity_,
               .count = count_.get() + turn_,
               .ids = ids_[turn_].get(),
               .kept_row = rows_.get(),
               .kept_id = ids_[next].get(),
               .kept_count = count_.get() + next,
               .cleared = alive_[next].get()},
              stream);
  turn_ = next;
}

Categories LiveRows::download(cudaStream_t stream) const {
  std::uint32_t left = 0;
  CUDA_CHECK(cudaMemcpyAsync(&left, count(), sizeof(left), cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  Categories images(left);
  if (left == 0) return images;
  CUDA_CHECK(cudaMemcpyAsync(images.data(), ids(), left * sizeof(std::uint32_t),
                             cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  return images;
}

}  // namespace winnow::challenge
