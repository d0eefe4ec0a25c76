#include "prune/training/cuda/cast_launch.h"
#include "prune/training/cuda/packs.cuh"
#include "prune/training/cuda/tensor_table.cuh"

namespace winnow {
namespace {

using Bf16 = __nv_bfloat16;

constexpr int kCastSize = Pack<Bf16>::kSize;

__device__ void load_floats(const float* from, float (&values)[kCastSize]) {
  float half[Pack<float>::kSize];
#pragma unroll
  for (int i = 0; i < kCastSize; ++i) {
    if (i % Pack<float>::kSize == 0) Pack<float>::load(from + i, half);
    values[i] = half[i % Pack<float>::kSize];
  }
}

__device__ void store_floats(float* to, const float (&values)[kCastSize]) {
  float half[Pack<float>::kSize];
#pragma unroll
  for (int i = 0; i < kCastSize; ++i) {
    half[i % Pack<float>::kSize] = values[i];
    if ((i + 1) % Pack<float>::kSize == 0)
      Pack<float>::store(to + i + 1 - Pack<float>::kSize, half);
  }
}

struct ToBf16 {
  const float* from;
  Bf16* to;

  template <int kSize>
  __device__ void at(std::int64_t i) const {
    if constexpr (kSize == 1) {
      to[i] = __float2bfloat16_rn(from[i]);
    } else {
      float values[kSize];
      load_floats(from + i, values);
      Pack<Bf16>::store(to + i, values);
    }
  }
};

struct FromBf16 {
  const Bf16* from;
  float* to;

  template <int kSize>
  __device__ void at(std::int64_t i) const {
    if constexpr (kSize == 1) {
      to[i] = __bfloat162float(from[i]);
    } else {
      float values[kSize];
      Pack<Bf16>::load(from + i, values);
      store_floats(to + i, values);
    }
  }
};

template <typename Cast, typename From, typename To>
__global__ void __launch_bounds__(kTableThreads)
    cast(const __grid_constant__ TensorTable<CastEntry> table) {
  const int index = entry_of_block(table);
  const CastEntry& entry = table.entries[index];
  go_through_chunk<kCastSize>(
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
