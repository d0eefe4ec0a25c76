#include "prune/training/steps/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace winnow {

double rate_at(const RateSchedule& schedule, double time, double total) {
  if (time < schedule.warmup) return schedule.rate * time / schedule.warmup;
  switch (schedule.decay) {
    case Decay::constant:
      return schedule.rate;
    case Decay::step: {
      const auto passed = std::count_if(schedule.milestones.begin(), schedule.milestones.end(),
                                        [&](double milestone) { return time >= milestone; });
      return schedule.rate * std::pow(schedule.gamma, static_cast<double>(passed));
    }
    case Decay::cosine:
      break;
  }
  const double length = total - schedule.warmup;
  const double part = length > 0 ? std::clamp((time - schedule.warmup) / length, 0.0, 1.0) : 1.0;
  return schedule.final_rate +
         (schedule.rate - schedule.final_rate) / 2 * (1 + std::cos(std::numbers::pi * part));
}

}  // namespace winnow
