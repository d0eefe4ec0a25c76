// Lines of metrics.jsonl.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "prune/evolution/population/iteration_record.h"
#include "prune/timing/time_rounds.h"

namespace winnow {

// One epoch of the dense baseline.
struct EpochRecord {
  std::int64_t epoch = 0;  // counted from 1
  std::int64_t batches = 0;
  double learning_rate = 0.0;  // of the last batch
  double loss = 0.0;
  std::optional<double> accuracy;  // on the validation images, where it was measured
  double seconds = 0.0;            // since the stage began
};

// The first line: which program writes the others.
std::string metrics_header();

// One JSON object without line break. Numbers that are not finite become null.
std::string to_json(const EpochRecord& record);

// `layers` are the prunable layers' names; per-layer numbers are objects by name.
std::string to_json(const IterationRecord& record, const std::vector<std::string>& layers,
                    double seconds);

// A network that was measured: the last one of `rounds`.
std::string last_json(const TimeRounds& rounds, double seconds);

}  // namespace winnow
