// Categories gathered by NCCL, GPU to GPU.
#pragma once

#include <memory>

#include "runtime/challenge/ranks/gather.h"

namespace winnow::challenge {

// Each rank has a GPU of its own, `gpu`. Waits for all ranks; the group must outlive it. A
// rank that dies does not let the others wait in NCCL. Throws Error{device} at all ranks if NCCL is
// missing at one or cannot start, Error{usage} if two ranks have the same GPU. In a build without
// CUDA it throws Error{device} (no_nccl.cpp).
std::unique_ptr<Gather> make_nccl_gather(RankGroup& group, int gpu);

}  // namespace winnow::challenge
