// From a deployed model to the network that runs it: candidates, measurement, choice.
#pragma once

#include <memory>
#include <vector>

#include "runtime/cpu/candidates.h"
#include "runtime/cpu/cpu_network.h"
#include "runtime/plan/session.h"
#include "runtime/plan/timing.h"

namespace winnow {

// What a network was made from.
struct NetworkParts {
  Program program;
  CpuPlan plan;
  std::vector<std::vector<float>> tables;  // [steps] embeddings' weights
};

struct PlannedNetwork {
  std::unique_ptr<RunnableNetwork> network;
  std::vector<LayerPlan> layers;
  NetworkParts made_from;
  TimingCounts timings;
};

// Measures where the options ask for it; then the network is the fastest of those that the
// measurements suggest, timed as a whole against the best all-dense one. With `is_shared` other
// threads run other networks at the same time: libraries that start threads of their own are left
// out.
PlannedNetwork plan_network(const DeployedModel& model, const SessionOptions& options, Isa isa,
                            ThreadPool& pool, bool is_shared = false);

// What times on this machine depend on besides the work.
TimingPlace cpu_timing_place(Isa isa, const ThreadPool& pool);

}  // namespace winnow
