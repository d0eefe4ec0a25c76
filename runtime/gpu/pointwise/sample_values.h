// Single values of a tensor, for comparisons on the host.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "runtime/gpu/layer/activation.h"

namespace winnow {

// The values of `view` at these indices in row-major order [N, C, H, W], as floats in host memory.
// Returns when they are there.
//
//   row_major  device memory for the whole tensor in row-major f32; what it holds is lost
//
// Throws Error{device} if the device fails.
std::vector<float> sample_values(const ActivationView& view,
                                 const std::vector<std::int64_t>& positions, void* row_major,
                                 cudaStream_t stream);

}  // namespace winnow
