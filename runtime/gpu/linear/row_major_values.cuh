// Row-major values of either precision.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/device/half_cast.cuh"

namespace winnow {

struct RowMajorValues {
  void* data;
  std::uint32_t features;
  bool is_half;

  __device__ __forceinline__ void set(std::size_t i, float value) const {
    if (is_half) {
      static_cast<__half*>(data)[i] = __float2half_rn(value);
    } else {
      static_cast<float*>(data)[i] = value;
    }
  }
};

}  // namespace winnow
