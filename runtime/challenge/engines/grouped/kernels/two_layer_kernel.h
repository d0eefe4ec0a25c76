// The first two layers in one launch, without the activations between them in global memory. For
// each panel of the second layer, the groups of the first layer that it reads are computed from
// bits into shared memory. A group of the first layer is computed again for every panel that reads
// it, except that a panel takes the carried group (PanelReads) over from the panel before if the
// same block computes both.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/challenge/engines/grouped/kernels/group_kernel.h"

namespace winnow::challenge {

struct TwoLayerLaunch {
  GroupView first;     // reads bits
  GroupLaunch second;  // `in`: the bits that `first` reads; drops no images
};

// Whether panels of the second layer read whole groups of the first, and few enough of them for the
// current GPU's shared memory.
bool can_fuse_two_layers(const GroupView& first, const GroupView& second);

// Enqueues both layers. Equal inputs give equal bits. Requires can_fuse_two_layers.
void launch_two_layers(const TwoLayerLaunch& launch, int sms, cudaStream_t stream);

}  // namespace winnow::challenge
