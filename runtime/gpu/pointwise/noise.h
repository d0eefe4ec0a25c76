// Data to time kernels on: zeros would run faster than real values do.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/base/noise.h"
#include "runtime/plan/session.h"

namespace winnow {

// Enqueues data[i] = noise_value(i modulo 2^32, seed), rounded to half for f16.
// Throws Error{device} if the launch is refused.
void fill_noise(void* data, std::int64_t count, Precision precision, std::uint32_t seed,
                cudaStream_t stream);

}  // namespace winnow
