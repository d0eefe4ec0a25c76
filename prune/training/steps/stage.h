// A stretch of training with one learning rate schedule: the dense baseline, or the evolution.
#pragma once

#include <cstdint>

#include "prune/training/steps/schedule.h"

namespace winnow {

struct Stage {
  RateSchedule rate;                  // its times count in units
  std::int64_t units = 1;             // epochs or iterations
  std::int64_t batches_per_unit = 1;  // so the stage has units * batches_per_unit batches
  std::int64_t schedules = 1;         // times that the rate's schedule runs, one after another
  std::int64_t first_epoch = 0;       // of the data order, which stages do not share
  bool is_pruning = false;            // masks and gradient statistics are kept up
};

// The learning rate of batch `index` of the stage.
double learning_rate(const Stage& stage, std::int64_t index);

}  // namespace winnow
