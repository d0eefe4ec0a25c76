// The group kernel for activations of two terms, and panels that read few enough different rows:
// these are copied to shared memory once for all groups of the panel. There are two buffers: while
// a panel is computed from one, the rows of the next are copied to the other.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/challenge/engines/grouped/kernels/group_kernel.h"

namespace winnow::challenge {

// Whether the layer and the current GPU's shared memory allow it. Activations of one term are for
// prefetch_kernel, which is faster with them.
bool can_double_buffer(const GroupLaunch& launch);

// As launch_group_layer. Requires can_double_buffer(launch).
void launch_double_buffered_layer(const GroupLaunch& launch, int sms, cudaStream_t stream);

}  // namespace winnow::challenge
