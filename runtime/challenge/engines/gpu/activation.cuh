// The epilogue of the challenge's layers: what they make of their sums.
#pragma once

#include "runtime/challenge/network.h"

namespace winnow::challenge {

// Z to Y': the bias where Z is not 0, clamped to [0, 32].
__device__ __forceinline__ float activation(float z, float bias) {
  return z != 0.0f ? fminf(kLargestActivation, fmaxf(0.0f, z + bias)) : 0.0f;
}

// The same as an epilogue for runtime/sparse.
struct ChallengeEpilogue {
  __device__ __forceinline__ float operator()(float z, float bias) const {
    const float y = fminf(fmaxf(z + bias, 0.0f), kLargestActivation);
    return z != 0.0f ? y : 0.0f;
  }
};

}  // namespace winnow::challenge
