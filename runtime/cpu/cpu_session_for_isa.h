// The CPU session with a forced instruction set, for tests and measurements.
#pragma once

#include <memory>

#include "runtime/cpu/micro_kernels.h"
#include "runtime/plan/session.h"

namespace winnow {

// As make_cpu_session, with kernels of at most `isa`. Throws Error{usage} if the machine or the
// build lacks it.
std::unique_ptr<Session> make_cpu_session_for_isa(const DeployedModel& model,
                                                  const SessionOptions& options, Isa isa);

}  // namespace winnow
