#include "runtime/bench/network_fit.h"

#include <algorithm>

namespace winnow {

NetworkFit line_between(const NetworkPoint& a, const NetworkPoint& b) {
  const double scale = (a.network_ms - b.network_ms) / (a.layers_ms - b.layers_ms);
  return {a.network_ms - scale * a.layers_ms, scale};
}

NetworkFit fit_network(const NetworkPoint& dense, const NetworkPoint& pruned) {
  constexpr double kHardly = 0.95;
  const bool is_told_apart = pruned.layers_ms < kHardly * dense.layers_ms &&
                             pruned.network_ms < kHardly * dense.network_ms;
  if (!is_told_apart) {
    return {std::max(0.0, dense.network_ms - dense.layers_ms),
            std::min(1.0, dense.network_ms / dense.layers_ms)};
  }
  const NetworkFit line = line_between(dense, pruned);
  if (line.constant_ms >= 0) return line;
  return {0, pruned.network_ms / pruned.layers_ms};
}

}  // namespace winnow
