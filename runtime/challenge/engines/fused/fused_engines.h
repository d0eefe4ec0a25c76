// What the two forms of `fused` share: activations in shared memory (fused_engine.cpp), or in
// global memory where they do not fit (gather_engine.cpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/challenge/engine.h"

namespace winnow::challenge {

std::unique_ptr<Engine> make_gather_engine(const Network& network, const EngineOptions& options);

// The most neurons that a layer takes or gives, rounded up to whole warps.
std::uint32_t widest_rows(const Network& network);

// How many images go through the network at a time, a multiple of 32: as many as two buffers of
// fp32 activations fit into `bytes`, and not more than `most` (rounded up) unless that is 0. Throws
// Error{device} if one image does not fit.
std::uint32_t fused_batch_size(std::uint32_t images, std::uint32_t rows, std::size_t bytes,
                               std::uint32_t most);

}  // namespace winnow::challenge
