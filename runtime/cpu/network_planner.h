// From a deployed model to the network that runs it: candidates, measurement, choice.
#pragma once

#include <memory>
#include <vector>

#include "runtime/cpu/candidates.h"
#include "runtime/cpu/cpu_network.h"
#include "runtime/plan/session.h"

namespace winnow {

struct PlannedNetwork {
  std::unique_ptr<CpuNetwork> network;
  std::vector<LayerPlan> layers;
  TimingCounts timings;
};

// Measures where the options ask for it; then the network is the fastest of those that the
// measurements suggest, timed as a whole against the best all-dense one.
PlannedNetwork plan_network(const DeployedModel& model, const SessionOptions& options, Isa isa,
                            ThreadPool& pool);

}  // namespace winnow
