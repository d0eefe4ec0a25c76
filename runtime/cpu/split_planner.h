// Plans a network for a batch: as a whole, or its first steps image by image.
#pragma once

#include "runtime/cpu/network_planner.h"

namespace winnow {

// As plan_network. Where kernels are measured and every thread gets images enough, also plans for
// one image on one thread, cuts the network where the measured steps say that it pays, and takes
// the fastest as a whole.
PlannedNetwork plan_split_network(const DeployedModel& model, const SessionOptions& options,
                                  Isa isa, ThreadPool& pool);

}  // namespace winnow
