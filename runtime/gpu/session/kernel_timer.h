// How long device work takes.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <vector>

#include "runtime/device/stream.h"

namespace winnow {

using Enqueue = std::function<void(cudaStream_t)>;

// Milliseconds of one execution of `enqueue`, `repeats` times after `warm_up` more. Short work is
// recorded several times into one CUDA graph and the graph's time divided, so that launches do not
// dominate. Executions follow each other at once: what fits the L2 cache stays in it.
//
// Throws what `enqueue` throws, and Error{device} if the work fails or cannot be recorded.
std::vector<double> time_repeatedly(const Enqueue& enqueue, int warm_up, int repeats,
                                    cudaStream_t stream);

// The median of a few such times, with only one where it exceeds `give_up_ms` by far.
double time_once(const Enqueue& enqueue, double give_up_ms, cudaStream_t stream);

}  // namespace winnow
