// Numbers to compute and time kernels on, equal on the host and on a GPU.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define WINNOW_HOST_DEVICE __host__ __device__
#else
#define WINNOW_HOST_DEVICE
#endif

namespace winnow {

// A value in [-1, 1) that depends on i and `seed` only.
WINNOW_HOST_DEVICE inline float noise_value(std::uint32_t i, std::uint32_t seed) {
  // The finaliser of MurmurHash3 (Appleby 2011) mixes the bits of the index.
  std::uint32_t bits = i * 2654435761u + seed;
  bits = (bits ^ (bits >> 16)) * 0x85ebca6bu;
  bits = (bits ^ (bits >> 13)) * 0xc2b2ae35u;
  bits ^= bits >> 16;
  return static_cast<float>(bits >> 8) * (2.0f / 16777216.0f) - 1.0f;
}

}  // namespace winnow
