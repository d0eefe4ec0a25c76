#include "prune/methods/magnitude.h"

#include <algorithm>
#include <cmath>

namespace winnow {

void Magnitude::prepare(const EvolutionState& state, IterationRecord& record) {
  const auto iterations = static_cast<double>(config().iter_nr);
  const double end = std::max(1.0, std::round(config().prune_until * iterations));
  const double time = static_cast<double>(state.iteration + 1) / end;
  if (time > 1.0) {
    record.phase = Phase::tune;
    return;
  }
  record.phase = Phase::rise;
  const double goal = budget().goal_density();
  const double left = (state.initial_density - goal) * std::pow(1.0 - time, 3);
  prune_to(goal + std::max(0.0, left), record);
}

}  // namespace winnow
