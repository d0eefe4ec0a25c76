// Closes the loop of pruning to a time: what was predicted of a pruned network, and what it takes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/bench/network_fit.h"

namespace winnow {

struct TimeCalibration {
  std::int64_t batch = 1;
  std::string granularity;  // as prune.json has it
  double predicted_ms = 0;  // of the run's network, when it was pruned
  double measured_ms = 0;   // by bench, the chosen plan's median
  NetworkFit before, after;
};

// Gives the batch and granularity of a run the line (network_fit.h) through the table's dense
// network and what `bench` measured of the run's network, in place of the one that the table has;
// times of layers stay as they are. A run that meets its target by the new table meets it as
// measured, as far as its layers' densities are like this run's.
//
//   table   of `runtime tune --table`; changed
//   folder  of the run, with prune.json and bench.json
//
// Throws Error{bad_file} if a file is missing or damaged, Error{usage} if the run had no budget of
// time, or table, run and measurement are of different devices, batches, precisions or
// granularities.
TimeCalibration calibrate(nlohmann::ordered_json& table, const std::string& table_file,
                          const std::string& folder);

}  // namespace winnow
