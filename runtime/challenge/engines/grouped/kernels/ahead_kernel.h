// The group kernel for layers of many images as one half, all groups of one step, that stay where
// they are: a warp copies the rows of its next group to shared memory while it computes one.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/challenge/engines/grouped/kernels/group_kernel.h"

namespace winnow::challenge {

bool can_copy_ahead(const GroupLaunch& launch);

// As launch_group_layer. Requires can_copy_ahead(launch).
void launch_ahead_layer(const GroupLaunch& launch, int processors, cudaStream_t stream);

}  // namespace winnow::challenge
