// The family of gathered convolutions, for the planner.
#pragma once

#include <string>

#include "runtime/gpu/gathered/gathered_values.h"

namespace winnow {

// Why a session with these options has no gathered convolutions; empty if it may have some.
std::string gathered_missing_reason(const SessionOptions& options);

// The values of its gathered convolutions; none if it has no such.
GatheredValues session_values(const DeployedModel& model, const Program& program,
                              const SessionOptions& options,
                              const std::vector<StepFusions>& fusions);

}  // namespace winnow
