#include "prune/methods/magnitude.h"

#include <algorithm>
#include <cmath>

namespace winnow {

std::int64_t Magnitude::batches_between_masks() const {
  return winnow::batches_between_masks(config());
}

void Magnitude::prepare(const EvolutionState& state, IterationRecord& record) {
  record.phase = Phase::tune;
  if (state.iteration < rising_iterations(config())) {
    record.phase = Phase::rise;
  } else if (config().mask_interval > 0 && state.iteration < free_iterations(config())) {
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
  const auto end = static_cast<double>(rising_iterations(config()));
  const double goal = budget().goal_density();
  const double left = (state.initial_density - goal) * std::pow(std::max(0.0, 1.0 - t / end), 3);
  prune_to(goal + std::max(0.0, left), record);
}

}  // namespace winnow
