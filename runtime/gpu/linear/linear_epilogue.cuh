// The epilogue of linear layers: what they make of their sums.
#pragma once

#include <limits>

namespace winnow {

// The sum with its bias, not below `lowest`; NaN stays.
struct LinearEpilogue {
  float lowest;

  __device__ __forceinline__ float operator()(float sum, float bias) const {
    const float y = sum + bias;
    return y < lowest ? lowest : y;
  }
};

inline float lowest_output(bool has_relu) {
  return has_relu ? 0.0f : -std::numeric_limits<float>::infinity();
}

}  // namespace winnow
