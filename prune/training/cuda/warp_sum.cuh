// A warp's lanes together.
#pragma once

namespace winnow {

constexpr int kWarpSize = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

// The sum of all lanes' values, to each of them, always in the same order. All lanes call it.
template <typename Value>
__device__ inline Value sum_over_warp(Value value) {
#pragma unroll
  for (int step = kWarpSize / 2; step > 0; step /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, step);
  }
  return value;
}

}  // namespace winnow
