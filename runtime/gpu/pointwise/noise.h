// Data to time kernels on: zeros would run faster than real values do.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/device/host_device.h"
#include "runtime/plan/session.h"

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

// Enqueues data[i] = noise_value(i modulo 2^32, seed), rounded to half for f16.
// Throws Error{device} if the launch is refused.
void fill_noise(void* data, std::int64_t count, Precision precision, std::uint32_t seed,
                cudaStream_t stream);

}  // namespace winnow
