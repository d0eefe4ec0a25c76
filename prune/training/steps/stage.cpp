#include "prune/training/steps/stage.h"

#include <cmath>

namespace winnow {

double learning_rate(const Stage& stage, std::int64_t index) {
  const double time =
      (static_cast<double>(index) + 0.5) / static_cast<double>(stage.batches_per_unit);
  const double length = static_cast<double>(stage.units) / static_cast<double>(stage.schedules);
  return rate_at(stage.rate, std::fmod(time, length), length);
}

}  // namespace winnow
