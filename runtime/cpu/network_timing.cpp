#include "runtime/cpu/network_timing.h"

#include <algorithm>

#include "runtime/base/wall_clock.h"
#include "runtime/cpu/layer_timer.h"
#include "runtime/plan/choice.h"

namespace winnow {

std::vector<Timing> time_networks(const std::vector<std::unique_ptr<RunnableNetwork>>& networks,
                                  ThreadPool& pool) {
  constexpr int kRounds = 3, kRepeats = 10;
  constexpr double kBudgetMs = 60, kLongMs = 30, kClearlySlower = 2;
  for (const auto& network : networks) std::ranges::fill(network->input(), 0.5f);
  std::vector<Timing> best(networks.size());
  std::vector<double> least_ms;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    best[i] = timing_of({run_ms([&] { networks[i]->run(pool); })});
    least_ms.push_back(best[i].min_ms);
  }
  for (int round = 0; round < kRounds; ++round) {
    const double least = std::ranges::min(least_ms);
    for (std::size_t i = 0; i < networks.size(); ++i) {
      if (networks.size() > 1 && least_ms[i] > kClearlySlower * least) continue;
      const auto run = [&] { networks[i]->run(pool); };
      // Caches cool down between turns, which a long run does not notice.
      const Timing timing = timing_of(least_ms[i] > kLongMs ? std::vector{run_ms(run)}
                                                            : time_runs(kRepeats, kBudgetMs, run));
      if (round == 0 || timing.median_ms < best[i].median_ms) best[i] = timing;
      least_ms[i] = std::min(least_ms[i], timing.min_ms);
    }
  }
  return best;
}

std::size_t fastest_of(const std::vector<Timing>& timings) {
  std::vector<double> ms;
  for (const Timing& timing : timings) ms.push_back(timing.median_ms);
  return fastest_network(ms);
}

}  // namespace winnow
