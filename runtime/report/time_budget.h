// What a run with a budget of time did.
#pragma once

#include <string>

#include "runtime/report/run_facts.h"

namespace winnow {

// Accuracy against predicted milliseconds: a dot for each iteration, and a line through those that
// no other beats. A table of what was predicted and measured of deployed networks. "" for a run
// whose budget was another one.
std::string time_budget(const RunFacts& facts);

}  // namespace winnow
