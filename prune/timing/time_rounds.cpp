#include "prune/timing/time_rounds.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "prune/evolution/budget/layer_budget.h"
#include "prune/evolution/ranks/message.h"
#include "prune/methods/goal_plan.h"
#include "runtime/base/error.h"
#include "runtime/base/number_text.h"

namespace winnow {
namespace {

constexpr std::size_t kRehearsals = 3;

bool is_on(const RunConfig& config) {
  return config.time_loop.rounds > 0;
}

void follow(RunConfig& config, const NetworkFit& fit) {
  auto time = std::make_shared<TimeModel>(*config.evolution.time);
  time->constant_ms = fit.constant_ms;
  time->scale = fit.scale;
  config.evolution.time = std::move(time);
}

// Whether some densities meet the target then.
bool is_in_reach(RunConfig config, const std::vector<PrunableLayer>& layers,
                 const NetworkFit& fit) {
  follow(config, fit);
  try {
    const LayerBudget budget(config.evolution, layers);
    return budget.reachable_density() <= budget.target_density();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage) throw;
    return false;
  }
}

// The line between the two measured networks next to the target, if there is one on each side
// and the faster one has less to compute.
std::optional<NetworkFit> line_around(double target, const TimeRounds& rounds,
                                      const NetworkPoint& last) {
  std::vector<NetworkPoint> points = {last};
  for (const TimeMeasurement& one : rounds.measured) {
    points.push_back({one.measured_ms, one.layers_ms});
  }
  std::optional<NetworkPoint> slow, fast;
  for (const NetworkPoint& point : points) {
    const double ms = point.network_ms;
    if (ms > target && (!slow || ms < slow->network_ms)) slow = point;
    if (ms <= target && (!fast || ms > fast->network_ms)) fast = point;
  }
  if (!slow || !fast || fast->layers_ms >= slow->layers_ms) return std::nullopt;
  return line_between(*fast, *slow);
}

// The line of the table's dense network and the pruned one, if there is one.
std::optional<NetworkFit> line_through(const TimeModel& time, const NetworkPoint& pruned) {
  constexpr double kClose = 1e-6;
  const NetworkFit fit = fit_network({time.dense_ms, dense_layers_ms(time)}, pruned);
  const double missed = fit.constant_ms + fit.scale * pruned.layers_ms - pruned.network_ms;
  return std::abs(missed) <= kClose * pruned.network_ms ? std::optional(fit) : std::nullopt;
}

}  // namespace

std::int64_t TimeRounds::pruned() const {
  return std::ranges::count_if(measured, &TimeMeasurement::is_pruned);
}

std::string describe(const TimeMeasurement& measurement) {
  const double percent = 100.0 * measurement.deviation();
  return "predicted " + general(measurement.predicted_ms, 4) + " ms, measured " +
         general(measurement.measured_ms, 4) + " ms (" + (percent < 0 ? "" : "+") +
         fixed(percent, 1) + " %)";
}

bool agrees(const RunConfig& config, const TimeMeasurement& measurement) {
  return std::abs(measurement.deviation()) <= config.time_loop.tolerance;
}

bool wants_rehearsal(const RunConfig& config, const TimeRounds& rounds) {
  if (!is_on(config) || config.method.method == Method::fssl) return false;
  if (rounds.pruned() > 0 || rounds.measured.size() >= kRehearsals) return false;
  if (rounds.measured.empty()) return true;
  return rounds.measured.back().is_followed && !agrees(config, rounds.measured.back());
}

bool wants_another_round(const RunConfig& config, const TimeRounds& rounds) {
  if (!is_on(config) || rounds.pruned() >= config.time_loop.rounds) return false;
  return rounds.measured.back().is_followed && !agrees(config, rounds.measured.back());
}

double mask_for_goal(const RunConfig& config, Trainee& trainee) {
  const LayerBudget budget(config.evolution, trainee.layers());
  const std::vector<double> sparsities =
      goal_sparsities(config.method, config.evolution, budget, trainee.magnitude_curves());
  std::vector<std::int64_t> kept;
  for (const Migration& moved : trainee.recompute_masks(sparsities, {})) {
    kept.push_back(moved.kept_weights);
  }
  return budget.cost(kept);
}

TimeMeasurement judged(const RunConfig& config, const std::vector<PrunableLayer>& layers,
                       const TimeRounds& rounds, double predicted_ms, double measured_ms) {
  const TimeModel& time = *config.evolution.time;
  TimeMeasurement result{.predicted_ms = predicted_ms,
                         .measured_ms = measured_ms,
                         .layers_ms = (predicted_ms - time.constant_ms) / time.scale};
  const NetworkPoint last{measured_ms, result.layers_ms};
  const double factor = measured_ms / predicted_ms;
  for (const std::optional<NetworkFit>& fit :
       {line_around(target_ms(config.evolution), rounds, last), line_through(time, last),
        std::optional(NetworkFit{factor * time.constant_ms, factor * time.scale})}) {
    if (fit) result.fit = *fit;
    result.is_followed = fit && is_in_reach(config, layers, *fit);
    if (result.is_followed) break;
  }
  return result;
}

void correct(RunConfig& config, const TimeRounds& rounds) {
  std::int64_t pruned = 0;
  for (const TimeMeasurement& one : rounds.measured) {
    pruned += one.is_pruned;
    if (one.is_followed && pruned <= rounds.begun_again) follow(config, one.fit);
  }
}

void share_prediction(RunConfig& config, Peers& peers) {
  if (peers.size() == 1 || !is_on(config)) return;
  MessageWriter mine;
  NetworkFit fit{config.evolution.time->constant_ms, config.evolution.time->scale};
  mine.put(fit);
  const std::string of_first = peers.gather(mine.bytes).front();
  MessageReader in(of_first, "prediction of rank 0");
  in.get(fit);
  in.expect_end();
  follow(config, fit);
}

bool share_decision(bool is_again, Peers& peers) {
  if (peers.size() == 1) return is_again;
  return peers.gather(is_again ? "again" : "").front() == "again";
}

}  // namespace winnow
