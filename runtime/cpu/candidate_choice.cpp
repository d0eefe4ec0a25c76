#include "runtime/cpu/candidate_choice.h"

namespace winnow {
namespace {

// Tries every other candidate of every step once; returns whether one helped.
bool improve(const std::vector<std::size_t>& candidates, const NetworkCost& cost,
             std::vector<std::size_t>& choice, double& lowest) {
  bool is_better = false;
  for (std::size_t step = 0; step < choice.size(); ++step) {
    const std::size_t before = choice[step];
    std::size_t best = before;
    for (std::size_t candidate = 0; candidate < candidates[step]; ++candidate) {
      if (candidate == before) continue;
      choice[step] = candidate;
      const double found = cost(choice);
      if (found < lowest) {
        lowest = found;
        best = candidate;
        is_better = true;
      }
    }
    choice[step] = best;
  }
  return is_better;
}

}  // namespace

std::vector<std::size_t> choose_candidates(const std::vector<std::size_t>& candidates,
                                           const std::vector<std::vector<std::size_t>>& starts,
                                           const NetworkCost& cost) {
  std::vector<std::size_t> best = starts.front();
  double lowest = cost(best);
  for (std::vector<std::size_t> choice : starts) {
    double found = cost(choice);
    while (improve(candidates, cost, choice, found)) {
    }
    if (found < lowest) {
      lowest = found;
      best = choice;
    }
  }
  return best;
}

}  // namespace winnow
