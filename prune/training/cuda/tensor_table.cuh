// One launch over many tensors: a table of them that travels as a kernel's parameter, so that a
// recorded launch has its own copy, and blocks that each take a chunk of one tensor.
#pragma once

#include <cstdint>
#include <span>

namespace winnow {

constexpr int kTableThreads = 256;
constexpr std::int64_t kChunk = 4096;  // elements; a multiple of what the threads load at once
constexpr int kTableBytes = 3840;      // of the 4096 that all parameters of a kernel may have

// `Entry` has pointers to elements, and their number as `count`.
template <typename Entry>
struct TensorTable {
  static constexpr int kMost =
      (kTableBytes - 16) / static_cast<int>(sizeof(Entry) + sizeof(std::int32_t));

  Entry entries[kMost];
  std::int32_t first_block[kMost + 1];  // of each entry; then the number of blocks
  std::int32_t size;
};

template <typename Entry>
constexpr bool kFits = sizeof(TensorTable<Entry>) <= kTableBytes;

// Calls launch(table, blocks) for one table after the other until all entries had their turn.
template <typename Entry, typename Launch>
void for_each_table(std::span<const Entry> entries, const Launch& launch) {
  static_assert(kFits<Entry>);
  TensorTable<Entry> table = {};
  std::int64_t blocks = 0;
  const auto finish = [&] {
    if (table.size > 0) launch(table, static_cast<unsigned>(blocks));
    table.size = 0;
    blocks = 0;
  };
  for (const Entry& entry : entries) {
    const std::int64_t chunks = (entry.count + kChunk - 1) / kChunk;
    if (chunks == 0) continue;
    if (table.size == TensorTable<Entry>::kMost || blocks + chunks > INT32_MAX) finish();
    table.entries[table.size] = entry;
    table.first_block[table.size++] = static_cast<std::int32_t>(blocks);
    blocks += chunks;
    table.first_block[table.size] = static_cast<std::int32_t>(blocks);
  }
  finish();
}

// The entry that this block has a chunk of.
template <typename Entry>
__device__ int entry_of_block(const TensorTable<Entry>& table) {
  const int block = static_cast<int>(blockIdx.x);
  int low = 0, high = table.size;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (table.first_block[middle] <= block ? low : high) = middle;
  }
  return low;
}

// Calls work.template at<n>(i) for this thread's part of this block's chunk of `entry`: elements i
// to i + n - 1, with n = kSize where these are there and `is_aligned`, else 1.
template <int kSize, typename Entry, typename Work>
__device__ void go_through_chunk(const TensorTable<Entry>& table, int entry, bool is_aligned,
                                 const Work& work) {
  const auto chunk = static_cast<std::int64_t>(blockIdx.x) - table.first_block[entry];
  const std::int64_t first = chunk * kChunk;
  const std::int64_t rest = table.entries[entry].count - first;
  const int count = static_cast<int>(rest < kChunk ? rest : kChunk);
  const int packed = is_aligned ? count / kSize * kSize : 0;
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread * kSize; i < packed; i += kTableThreads * kSize) {
    work.template at<kSize>(first + i);
  }
  for (int i = packed + thread; i < count; i += kTableThreads) work.template at<1>(first + i);
}

// Whether vector loads may start at all of these; null is no obstacle.
template <typename... Pointers>
__device__ bool are_aligned(const Pointers*... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) | ...) & 15) == 0;
}

}  // namespace winnow
