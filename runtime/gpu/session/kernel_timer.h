// How long device work takes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/device/stream.h"
#include "runtime/gpu/session/device_network.h"
#include "runtime/plan/timing.h"

namespace winnow {

using Enqueue = std::function<void(cudaStream_t)>;

// Milliseconds of one execution of `enqueue`, `repeats` times after `warm_up` more. Short work is
// recorded several times into one CUDA graph and the graph's time divided, so that launches do not
// dominate. Executions follow each other at once: what fits the L2 cache stays in it.
//
// Throws what `enqueue` throws, and Error{device} if the work fails or cannot be recorded.
std::vector<double> time_repeatedly(const Enqueue& enqueue, int warm_up, int repeats,
                                    cudaStream_t stream);

// A few such times; of work that exceeds `give_up_ms` by far only one.
Timing time_kernel(const Enqueue& enqueue, double give_up_ms, cudaStream_t stream);

// Times of networks that need `inputs` floats, on random ones: of each the best round of several in
// which they take turns, so that drifting clocks hit all alike. Throws as above.
std::vector<Timing> time_networks(const std::vector<std::unique_ptr<DeviceNetwork>>& networks,
                                  std::int64_t inputs, cudaStream_t stream);

// The median of a few executions, before each of which twice as much memory as the L2 cache holds
// was written. Throws as above.
double cold_ms_of(const Enqueue& enqueue, cudaStream_t stream);

// The highest clock of the SMs; 0 where the driver does not tell.
double highest_clock_mhz(int gpu);

}  // namespace winnow
