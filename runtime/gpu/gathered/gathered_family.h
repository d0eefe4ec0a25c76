// The family of gathered convolutions, for the planner.
#pragma once

#include <string>

#include "runtime/gpu/gathered/gathered_values.h"

namespace winnow {

// Why a session with these options has no gathered convolutions; empty if it may have some.
std::string gathered_missing_reason(const SessionOptions& options);

}  // namespace winnow
