// How long a network takes once it is deployed.
#pragma once

#include <functional>
#include <string>

#include "prune/evolution/budget/time_model.h"
#include "runtime/model/model.h"

namespace winnow {

struct DeploymentOptions {
  std::string programs;  // folder of `export` and `runtime`; empty: that of the program that runs
  std::string scratch;   // folder to work in; made, and removed with all that is in it
  std::function<bool()> should_stop = {};
};

struct DeployedTime {
  double ms = 0.0;    // of a pass: the median of the plan that `runtime bench` chooses
  std::string bench;  // what `runtime bench --json` wrote
};

// Throws Error{usage} with the folder if a program is not there.
void require_programs(const std::string& folder);

// Writes the network with `export` and measures it with `runtime bench`, each a process of its own,
// at the batch size and precision of `time` and on its device. Throws Error{usage} if this
// machine's device is another one, what run_child() throws, and Error{bad_file} if there is no
// room.
DeployedTime measure_deployed(const Model& model, const TimeModel& time,
                              const DeploymentOptions& options);

}  // namespace winnow
