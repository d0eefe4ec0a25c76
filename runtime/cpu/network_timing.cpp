#include "runtime/cpu/network_timing.h"

#include <algorithm>

#include "runtime/base/wall_clock.h"
#include "runtime/plan/choice.h"

namespace winnow {
namespace {

constexpr double kLongMs = 30, kVeryLongMs = 100;

// Of a run that took `ms`, and the fastest one `least` before this round.
bool is_worth_a_turn(double ms, double least, int round) {
  constexpr double kClearlySlower = 2, kSlower = 1.3;
  constexpr int kRounds = 3, kLongRounds = 2, kVeryLongRounds = 1;
  if (ms > (round == 0 ? kClearlySlower : kSlower) * least) return false;
  return round < (ms > kVeryLongMs ? kVeryLongRounds : ms > kLongMs ? kLongRounds : kRounds);
}

}  // namespace

std::vector<Timing> time_in_turns(const std::vector<TimedRun>& runs) {
  constexpr int kMostRounds = 3, kRepeats = 10;
  constexpr double kBudgetMs = 60;
  std::vector<Timing> best;
  for (const TimedRun& run : runs) best.push_back(timing_of({run()}));
  for (int round = 0; round < kMostRounds; ++round) {
    const double least = runs.empty() ? 0 : std::ranges::min(best, {}, &Timing::min_ms).min_ms;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!is_worth_a_turn(best[i].min_ms, least, round)) continue;
      // A long run does not notice that caches cooled down between turns, nor that it is the first.
      const bool is_long = best[i].min_ms > kLongMs;
      const Timing timing =
          timing_of(is_long ? std::vector{runs[i]()} : time_runs(kRepeats, kBudgetMs, runs[i]));
      const double least_of_both = std::min(best[i].min_ms, timing.min_ms);
      const bool is_better = timing.median_ms < best[i].median_ms;
      if (is_better || (round == 0 && !is_long)) best[i] = timing;
      best[i].min_ms = least_of_both;
    }
  }
  return best;
}

std::vector<Timing> time_networks(const std::vector<std::unique_ptr<RunnableNetwork>>& networks,
                                  ThreadPool& pool) {
  std::vector<TimedRun> runs;
  for (const auto& network : networks) {
    std::ranges::fill(network->input(), 0.5f);
    runs.emplace_back([&] { return run_ms([&] { network->run(pool); }); });
  }
  return time_in_turns(runs);
}

std::size_t fastest_of(const std::vector<Timing>& timings) {
  std::vector<double> ms;
  for (const Timing& timing : timings) ms.push_back(timing.median_ms);
  return fastest_network(ms);
}

}  // namespace winnow
