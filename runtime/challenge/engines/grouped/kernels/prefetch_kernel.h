// The group kernel for activations of one term, groups of one step each, and launches that drop no
// images: while a warp computes a group, it copies the input rows of its next group to shared
// memory.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/challenge/engines/grouped/kernels/group_kernel.h"

namespace winnow::challenge {

// Whether the layer is such a one and the current GPU has the shared memory.
bool can_prefetch(const GroupLaunch& launch);

// As launch_group_layer. Requires can_prefetch(launch).
void launch_prefetch_layer(const GroupLaunch& launch, int sms, cudaStream_t stream);

}  // namespace winnow::challenge
