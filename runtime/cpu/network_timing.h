// Times of whole networks.
#pragma once

#include <memory>
#include <vector>

#include "runtime/cpu/layer_timer.h"
#include "runtime/cpu/runnable_network.h"
#include "runtime/plan/timing.h"

namespace winnow {

// Each run's best round of several in which they take turns, so that what else the machine does
// hits all alike. What takes clearly longer than another is run but once or twice, what takes more
// than 30 ms three times at most and more than 100 ms twice.
std::vector<Timing> time_in_turns(const std::vector<TimedRun>& runs);

// The same of whole networks. Overwrites their inputs.
std::vector<Timing> time_networks(const std::vector<std::unique_ptr<RunnableNetwork>>& networks,
                                  ThreadPool& pool);

// The index of the fastest by median; of equal ones the first.
std::size_t fastest_of(const std::vector<Timing>& timings);

}  // namespace winnow
