// Which solution is better than which, and by how much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "prune/evolution/population/solution.h"
#include "runtime/base/random.h"

namespace winnow {

struct Ranking {
  double wanted_density = 1.0;  // what the pace asks for now
  double lag_penalty = 0.0;
  double tolerance = 0.0;        // accuracy of no account: |acc_threshold|
  double allowed_density = 1.0;  // denser solutions rank after all others
};

// Accuracy that counts in comparisons: level - tolerance * continued. A solution with an accepted
// child was continued by it: the child has had more training and ranks first unless it is worse by
// more than what is accepted. So a run trains on from its newest weights, not from a lucky
// measurement.
double merit(const Solution& solution, double tolerance);

// merit - lag_penalty * max(0, ln(density / wanted_density)).
double fitness(const Solution& solution, const Ranking& ranking);

// Of merit and sparsity neither is less and one is more.
bool dominates(const Solution& a, const Solution& b, double tolerance);

// Whether a is worse than b: too dense where b is not, else less fit.
bool worse(const Solution& a, const Solution& b, const Ranking& ranking);

// Indices from best to worst; of equals the newest first.
std::vector<std::size_t> ranked(std::span<const Solution> pool, const Ranking& ranking);

// Line 3. Walks down the order and takes each with chance `pressure`; the last one if none.
std::size_t choose_ranked(std::span<const std::size_t> order, double pressure, Random& random);

// A solution is comparable with one of `density` if it is at least as sparse or its log density is
// no more than `range` greater.
bool comparable(const Solution& solution, double density, double range);

struct Reference {
  std::int64_t holder = -1;  // id of the solution
  double accuracy = 0.0;
};

// Line 8: what a new solution of `density` must hold against: the best among the comparable ones
// and the parent of level - lag_penalty * max(0, ln(its density / max(density, wanted_density))).
// The second term is 0 for a solution that keeps the pace; one that lags counts for less the more
// of the lag the new one makes up for, at the price that fitness() sets on lag.
Reference find_reference(std::span<const Solution> pool, const Solution& parent, double density,
                         double range, const Ranking& ranking);

// The level of a solution measured at `accuracy` whose parent is held to `parent_level`:
// min(accuracy, parent_level + smoothing (accuracy - parent_level)). A lucky measurement counts in
// part, an unlucky one in full.
double level_after(double parent_level, double accuracy, double smoothing);

}  // namespace winnow
