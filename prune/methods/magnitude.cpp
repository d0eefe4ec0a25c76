#include "prune/methods/magnitude.h"

#include <algorithm>
#include <cmath>

namespace winnow {

std::int64_t Magnitude::batches_between_masks() const {
  return winnow::batches_between_masks(config());
}

void Magnitude::prepare(const EvolutionState& state, IterationRecord& record) {
  const auto iterations = static_cast<double>(config().iter_nr);
  const auto iteration = static_cast<double>(state.iteration);
  record.phase = Phase::tune;
  if (iteration < std::max(1.0, std::round(config().prune_until * iterations))) {
    record.phase = Phase::rise;
  } else if (config().mask_interval > 0 && iteration < config().freeze_from * iterations) {
    record.phase = Phase::settle;
  }
  remask(0, state, record);
}

void Magnitude::prepare_again(std::int64_t done, const EvolutionState& state,
                              IterationRecord& record) {
  remask(done, state, record);
}

// t is that of the batches until the next masks.
void Magnitude::remask(std::int64_t done, const EvolutionState& state, IterationRecord& record) {
  if (record.phase == Phase::tune) return;
  const auto per_iteration = static_cast<double>(config().batch_nr);
  const double part = static_cast<double>(done + batches_between_masks()) / per_iteration;
  const double t = static_cast<double>(state.iteration) + std::min(1.0, part);
  const auto iterations = static_cast<double>(config().iter_nr);
  const double end = std::max(1.0, std::round(config().prune_until * iterations));
  const double goal = budget().goal_density();
  const double left = (state.initial_density - goal) * std::pow(std::max(0.0, 1.0 - t / end), 3);
  prune_to(goal + std::max(0.0, left), record);
}

}  // namespace winnow
