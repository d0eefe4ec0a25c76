// Times of whole networks.
#pragma once

#include <memory>
#include <vector>

#include "runtime/cpu/runnable_network.h"
#include "runtime/plan/timing.h"

namespace winnow {

// Each network's best round of several in which they take turns, so that what else the machine does
// hits all alike. One that takes clearly longer than another is timed but once or twice. Overwrites
// their inputs.
std::vector<Timing> time_networks(const std::vector<std::unique_ptr<RunnableNetwork>>& networks,
                                  ThreadPool& pool);

// The index of the fastest by median; of equal ones the first.
std::size_t fastest_of(const std::vector<Timing>& timings);

}  // namespace winnow
