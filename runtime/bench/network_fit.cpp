#include "runtime/bench/network_fit.h"

#include <algorithm>

namespace winnow {

NetworkFit fit_network(const NetworkPoint& dense, const NetworkPoint& pruned) {
  constexpr double kHardly = 0.95;
  const bool is_told_apart = pruned.layers_ms < kHardly * dense.layers_ms &&
                             pruned.network_ms < kHardly * dense.network_ms;
  if (!is_told_apart) {
    return {std::max(0.0, dense.network_ms - dense.layers_ms),
            std::min(1.0, dense.network_ms / dense.layers_ms)};
  }
  const double scale =
      (dense.network_ms - pruned.network_ms) / (dense.layers_ms - pruned.layers_ms);
  const double constant = dense.network_ms - scale * dense.layers_ms;
  if (constant >= 0) return {constant, scale};
  return {0, pruned.network_ms / pruned.layers_ms};
}

}  // namespace winnow
