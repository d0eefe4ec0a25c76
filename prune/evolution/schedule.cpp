#include "prune/evolution/schedule.h"

#include <algorithm>
#include <cmath>

namespace winnow {
namespace {

// Where a pace from `start` to `goal` is after the share `done` of its way.
double on_the_way(Pace pace, double start, double goal, double done) {
  if (pace == Pace::cubic) return goal + (start - goal) * std::pow(1.0 - done, 3);
  return start * std::pow(goal / start, done);
}

}  // namespace

Schedule::Schedule(const EvolutionConfig& config, double initial_density, double goal_density)
    : rise_end_(rising_iterations(config)),
      freeze_from_(free_iterations(config)),
      last_(config.iter_nr - 1),
      pace_(config.pace),
      max_lag_(config.max_lag),
      initial_density_(initial_density),
      goal_density_(goal_density) {}

Phase Schedule::phase(std::int64_t iteration) const {
  if (iteration < rise_end_) return Phase::rise;
  return iteration < freeze_from_ ? Phase::settle : Phase::tune;
}

double Schedule::wanted_density(std::int64_t iteration) const {
  if (iteration >= rise_end_ || initial_density_ <= goal_density_) return goal_density_;
  const double done = static_cast<double>(iteration) / static_cast<double>(rise_end_);
  return on_the_way(pace_, initial_density_, goal_density_, done);
}

double Schedule::allowed_density(std::int64_t iteration) const {
  if (iteration >= std::min(rise_end_, last_)) return goal_density_;
  return std::min(1.0, wanted_density(iteration) * std::exp(max_lag_));
}

double Schedule::forced_density(std::int64_t iteration) const {
  return std::min(wanted_density(iteration), allowed_density(iteration));
}

double Schedule::next_density(std::int64_t next, double density) const {
  if (density <= goal_density_) return density;
  const std::int64_t left = rise_end_ - next;  // iterations, `next` included
  if (left <= 1) return goal_density_;
  return on_the_way(pace_, density, goal_density_, 1.0 / static_cast<double>(left));
}

double Schedule::progress(std::int64_t iteration) const {
  if (iteration >= freeze_from_) return 1.0;
  return static_cast<double>(iteration) / static_cast<double>(freeze_from_);
}

}  // namespace winnow
