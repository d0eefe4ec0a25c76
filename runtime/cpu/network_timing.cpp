#include "runtime/cpu/network_timing.h"

#include <algorithm>

#include "runtime/cpu/layer_timer.h"
#include "runtime/plan/choice.h"

namespace winnow {

std::vector<Timing> time_networks(const std::vector<std::unique_ptr<RunnableNetwork>>& networks,
                                  ThreadPool& pool) {
  constexpr int kRounds = 3, kRepeats = 10;
  constexpr double kBudgetMs = 60;
  for (const auto& network : networks) std::ranges::fill(network->input(), 0.5f);
  std::vector<Timing> best(networks.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < networks.size(); ++i) {
      const Timing timing =
          timing_of(time_runs(kRepeats, kBudgetMs, [&] { networks[i]->run(pool); }));
      if (round == 0 || timing.median_ms < best[i].median_ms) best[i] = timing;
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
