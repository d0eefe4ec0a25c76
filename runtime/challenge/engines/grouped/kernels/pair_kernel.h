// The first two layers in one launch, without the activations between them in memory: for each part
// of 8 groups of the second layer, the groups of the first that it reads are computed into shared
// memory, from bits. A group of the first layer is computed for every part that reads it, but for
// one that a part takes over from the part before, if the same block computes both.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/challenge/engines/grouped/kernels/group_kernel.h"

namespace winnow::challenge {

struct PairLaunch {
  GroupView first;     // reads bits
  GroupLaunch second;  // `in`: the bits that `first` reads; keeps all images
};

// Whether parts of the second layer read whole groups of the first, few enough for the current
// GPU's shared memory.
bool can_pair(const GroupView& first, const GroupView& second);

// Asynchronous. Equal inputs give equal bits. Requires can_pair.
void launch_pair(const PairLaunch& launch, int processors, cudaStream_t stream);

}  // namespace winnow::challenge
