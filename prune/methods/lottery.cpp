#include "prune/methods/lottery.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/error.h"

namespace winnow {

void Lottery::prepare(const EvolutionState& state, IterationRecord& record) {
  const std::int64_t length = config().iter_nr / method().rounds;
  const std::int64_t round = state.iteration / length;
  record.phase = round + 1 < method().rounds ? Phase::rise : Phase::tune;
  if (round == 0 || state.iteration % length != 0) return;
  const double share = static_cast<double>(round) / static_cast<double>(method().rounds - 1);
  const double whole = state.initial_density;
  const double goal = std::min(whole, budget().goal_density());
  const bool is_last = round + 1 == method().rounds;
  prune_to(is_last ? budget().goal_density() : whole * std::pow(goal / whole, share), record);
  for (const Solution& solution : state.pool) {
    if (!goes_back_to(solution)) continue;
    trainee().rewind_weights(*solution.snapshot);
    return;
  }
  fail(ErrorCode::internal, "lottery: the weights of iteration ", method().rewind_to,
       " are not there");
}

}  // namespace winnow
