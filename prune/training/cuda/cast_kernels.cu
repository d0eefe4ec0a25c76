#include "prune/training/cuda/cast_launch.h"
#include "prune/training/cuda/packs.cuh"
#include "prune/training/cuda/tensor_table.cuh"

namespace winnow {
namespace {

using Bf16 = __nv_bfloat16;

__device__ void load_floats(const float* from, float (&values)[Pack<Bf16>::kSize]) {
  constexpr int kHalf = Pack<float>::kSize;
  float half[kHalf];
#pragma unroll
  for (int i = 0; i < Pack<Bf16>::kSize; ++i) {
    if (i % kHalf == 0) Pack<float>::load(from + i, half);
    values[i] = half[i % kHalf];
  }
}

// What a cast takes at once, kSize elements, are 16 bytes of what it writes: so a warp's store
// fills whole sectors of 32 bytes.
struct ToBf16 {
  static constexpr int kSize = Pack<Bf16>::kSize;
  const float* from;
  Bf16* to;

  template <int kCount>
  __device__ void at(std::int64_t i) const {
    if constexpr (kCount == 1) {
      to[i] = __float2bfloat16_rn(from[i]);
    } else {
      float values[kSize];
      load_floats(from + i, values);
      Pack<Bf16>::store(to + i, values);
    }
  }
};

struct FromBf16 {
  static constexpr int kSize = Pack<float>::kSize;
  const Bf16* from;
  float* to;

  template <int kCount>
  __device__ void at(std::int64_t i) const {
    if constexpr (kCount == 1) {
      to[i] = __bfloat162float(from[i]);
    } else {
      const uint2 words = *reinterpret_cast<const uint2*>(from + i);
      Pack<float>::store(to + i, {lower_bf16(words.x), upper_bf16(words.x), lower_bf16(words.y),
                                  upper_bf16(words.y)});
    }
  }
};

template <typename Cast, typename From, typename To>
__global__ void __launch_bounds__(kTableThreads)
    cast(const __grid_constant__ TensorTable<CastEntry> table) {
  const int index = entry_of_block(table);
  const CastEntry& entry = table.entries[index];
  go_through_chunk<Cast::kSize>(
      table, index, are_aligned(entry.from, entry.to),
      Cast{static_cast<const From*>(entry.from), static_cast<To*>(entry.to)});
}

}  // namespace

const char* launch_casts(const CastCall& call, std::span<const CastEntry> entries) {
  cudaSetDevice(call.device);
  for_each_table(entries, [&](const TensorTable<CastEntry>& table, unsigned blocks) {
    if (call.to_bf16) {
      cast<ToBf16, float, Bf16><<<blocks, kTableThreads, 0, call.stream>>>(table);
    } else {
      cast<FromBf16, Bf16, float><<<blocks, kTableThreads, 0, call.stream>>>(table);
    }
  });
  return launch_error();
}

}  // namespace winnow
