// How long a network takes once it is deployed.
#pragma once

#include <functional>
#include <string>

#include "prune/evolution/budget/time_model.h"
#include "runtime/model/model.h"

namespace winnow {

struct DeploymentOptions {
  std::string device = "auto";  // the run's; a GPU that it names is measured on
  std::string programs;  // folder of `export` and `runtime`; empty: that of the program that runs
  std::string scratch;   // folder to work in; made, and removed with all that is in it
  std::function<bool()> should_stop = {};
};

struct DeployedTime {
  double ms = 0.0;     // of a pass: the median of the plan that `runtime bench` chooses
  std::string device;  // on which
  std::string bench;   // what `runtime bench --json` wrote
};

// Throws Error{usage} with the folder if a program is not there.
void require_programs(const std::string& folder);

// The device to measure on, as `runtime` takes it: the CPU where the times are of one, else the GPU
// that the run's `device` names, or the first one.
std::string device_to_measure(const TimeModel& time, const std::string& device);

// Before anything is trained. Throws Error{usage}, which begins with "time_table", if the times are
// of another processor than this machine's, of more threads than it has cores or of instructions
// that it lacks, or of another GPU than a trainee's `device` ("cuda:1 (NVIDIA H200), steps as
// ..."). The number of a GPU says nothing. What is of a GPU while the trainee has none passes:
// `runtime` may find one.
void require_device_of(const TimeModel& time, const std::string& device);

// The same of the device that was measured on.
void require_measured_on(const TimeModel& time, const std::string& device);

// Writes the network with `export` and measures it with `runtime bench`, each a process of its own,
// at the batch size, precision and number of threads of `time` and on a device like its. Throws
// what run_child() throws, and Error{bad_file} if there is no room.
DeployedTime measure_deployed(const Model& model, const TimeModel& time,
                              const DeploymentOptions& options);

}  // namespace winnow
