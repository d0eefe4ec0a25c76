// The group kernel for split activations and layers in which a part of 8 groups reads few enough
// different rows: these come to shared memory once for all groups of the part, the next part's
// while one is computed.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/challenge/engines/grouped/kernels/group_kernel.h"

namespace winnow::challenge {

// Whether the layer and the current GPU's shared memory allow it. (Where activations are one half,
// ahead_kernel is faster: 37 us a layer against 45 with 16384 neurons and 1918 images on an H200.)
bool can_stage(const GroupLaunch& launch);

// As launch_group_layer. Requires can_stage(launch).
void launch_staged_layer(const GroupLaunch& launch, int processors, cudaStream_t stream);

}  // namespace winnow::challenge
