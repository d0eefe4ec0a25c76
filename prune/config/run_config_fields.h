// The one description of a configuration's keys, their ranges and order.
#pragma once

#include "prune/config/fields.h"
#include "prune/config/run_config.h"

namespace winnow {

void visit_run_config(RunConfig& config, Fields& fields);

}  // namespace winnow
