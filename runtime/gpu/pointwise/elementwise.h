// Sums and rectifiers on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <limits>
#include <span>

#include "runtime/gpu/layer/activation.h"

namespace winnow {

// What an activation is limited to; what is not a number stays.
struct ActivationLimits {
  float least = -std::numeric_limits<float>::infinity();
  float most = std::numeric_limits<float>::infinity();
};

// Enqueues out = in[0] + in[1] + ... within `limits`, over tensors of equal size and element type
// in any layouts. One input makes it a copy or a rectifier.
//
// Sums in float from the first to the last input. More than kAddInputs inputs are summed in
// several passes through `out`.
// Throws Error{usage} if sizes or types differ, Error{device} if the launch is refused.
inline constexpr int kAddInputs = 4;
void add(std::span<const ActivationView> in, const ActivationLimits& limits,
         const ActivationView& out, cudaStream_t stream);

}  // namespace winnow
