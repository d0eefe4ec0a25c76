// Data to time kernels on: zeros would run faster than real values do.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/plan/session.h"

namespace winnow {

// Enqueues data[i] = a value in [-1, 1) that depends on i and `seed` only, half of them negative.
// Throws Error{device} if the launch is refused.
void fill_noise(void* data, std::int64_t count, Precision precision, std::uint32_t seed,
                cudaStream_t stream);

}  // namespace winnow
