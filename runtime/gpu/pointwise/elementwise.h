// Sums and rectifiers on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <span>

#include "runtime/gpu/layer/activation.h"

namespace winnow {

// Enqueues out = in[0] + in[1] + ..., then max(0, .) if `has_relu`, over tensors of equal size and
// element type in any layouts. One input makes it a copy or a rectifier.
//
// Sums in float from the first to the last input. More than kAddInputs inputs are summed in
// several passes through `out`.
// Throws Error{usage} if sizes or types differ, Error{device} if the launch is refused.
inline constexpr int kAddInputs = 4;
void add(std::span<const ActivationView> in, bool has_relu, const ActivationView& out,
         cudaStream_t stream);

}  // namespace winnow
