// The CPU backend: multi-threaded, vectorised, fp32.
#pragma once

#include <memory>

#include "runtime/plan/session.h"

namespace winnow {

// Throws Error{usage} for options that the CPU does not have: Precision::f16, use_tf32, sub_batch,
// all_plans, families of the GPU.
std::unique_ptr<Session> make_cpu_session(const DeployedModel& model,
                                          const SessionOptions& options);

}  // namespace winnow
