// The closed loop of pruning to a time: prune, measure, correct what is predicted, prune again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "prune/config/run_config.h"
#include "prune/evolution/ranks/peers.h"
#include "prune/evolution/trainee/trainee.h"
#include "runtime/bench/network_fit.h"

namespace winnow {

// A network that was deployed and measured.
struct TimeMeasurement {
  bool is_pruned = false;  // by the method; else a rehearsal: masked for the goal, not trained
  double predicted_ms = 0.0;
  double measured_ms = 0.0;
  double layers_ms = 0.0;  // the sum of its layers' ms by the table
  // How predictions go on, by the first of these that is a line and has the target in reach: the
  // line between the two measured networks next to the target, one on each side; the line through
  // the dense network and this one; the line that was, times what this network took longer.
  NetworkFit fit = {};
  // Whether they do: not where all three have the target out of reach.
  bool is_followed = true;

  double deviation() const { return measured_ms / predicted_ms - 1.0; }
};

// "predicted 1.205 ms, measured 1.31 ms (+8.7 %)"
std::string describe(const TimeMeasurement& measurement);

// The measurements of a run, in order, and how often pruning was begun again after one. A pruned
// network that was measured and after which nothing was begun is the run's answer.
struct TimeRounds {
  std::vector<TimeMeasurement> measured;
  std::int64_t begun_again = 0;

  std::int64_t pruned() const;  // how many of them are
};

// Whether a network's measured time is as predicted, to prune.time_tolerance.
bool agrees(const RunConfig& config, const TimeMeasurement& measurement);

// Before anything is pruned: whether a rehearsal is worth its seconds. There are at most three,
// until one agrees; none for fssl, whose groups no mask for the goal is like.
bool wants_rehearsal(const RunConfig& config, const TimeRounds& rounds);

// Whether the network that was pruned last is to be pruned again: it does not agree, and
// prune.time_rounds allows one more.
bool wants_another_round(const RunConfig& config, const TimeRounds& rounds);

// Masks the trainee's network for the goal by magnitude (goal_sparsities()). Returns the
// milliseconds that are predicted of it.
double mask_for_goal(const RunConfig& config, Trainee& trainee);

// What the measurement of a network of these layers, whose time `config` predicts so, says after
// those of `rounds`.
TimeMeasurement judged(const RunConfig& config, const std::vector<PrunableLayer>& layers,
                       const TimeRounds& rounds, double predicted_ms, double measured_ms);

// Predictions follow the last measurement that something was begun after; without one they stay
// those of the table.
void correct(RunConfig& config, const TimeRounds& rounds);

// Rank 0's line and, at the end of a round, its decision, at every rank. What the others give is
// not read.
void share_prediction(RunConfig& config, Peers& peers);
bool share_decision(bool is_again, Peers& peers);

}  // namespace winnow
