// Pooling on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/gpu/layer/activation.h"
#include "runtime/model/graph.h"

namespace winnow {

// Enqueues max or average pooling of `in` into `out`, of equal element type, in any layouts.
//
//   in   [N, C, H, W]    out  [N, C, ...], as many positions as pool_axis.h says
//
// Padding never wins a maximum; an average divides by the positions that it counts (pool_axis.h).
// Sums in float, row by row: equal inputs give equal bits.
// Throws Error{usage} if the sizes do not fit, Error{device} if the launch is refused.
void pool(const Pool& op, const ActivationView& in, const ActivationView& out, cudaStream_t stream);

// Enqueues the maximum or average over all positions of each channel.
//
//   in  [N, C, H, W]    out  [N, C] (height and width 1)
void global_pool(const GlobalPool& op, const ActivationView& in, const ActivationView& out,
                 cudaStream_t stream);

}  // namespace winnow
