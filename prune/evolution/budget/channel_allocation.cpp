#include "prune/evolution/budget/channel_allocation.h"

#include <algorithm>
#include <optional>

namespace winnow {
namespace {

constexpr std::int64_t kSteps = 64;  // numbers of a unit's channels that are weighed at a time
constexpr double kRounding = 1e-12;

// A unit that keeps fewer channels.
struct Step {
  std::int64_t kept = 0;
  double price = 0.0;  // loss per millisecond saved
};

class Descent {
 public:
  Descent(const LayerBudget& budget, std::span<const MagnitudeCurve> curves)
      : budget_(budget), curves_(curves) {
    for (std::size_t u = 0; u < budget.size(); ++u) {
      least_.push_back(blocks_at(u, budget.range(u).max));
      weights_.push_back(budget.most_kept(u, budget.range(u).min));
    }
    for (std::size_t u = 0; u < budget.size(); ++u) best_.push_back(best_step(u));
  }

  void go_down_to(double ms) {
    while (budget_.cost(weights_) > ms) {
      const std::optional<std::size_t> unit = cheapest();
      if (!unit) return;
      take(*unit, best_[*unit]->kept, ms);
      renew(*unit);
    }
  }

  std::vector<double> sparsities() const {
    std::vector<double> result;
    for (std::size_t u = 0; u < budget_.size(); ++u) {
      const double share =
          1.0 - static_cast<double>(kept(u)) / static_cast<double>(budget_.layer(u).blocks);
      const LayerRange& range = budget_.range(u);
      result.push_back(range.excluded ? range.min : std::clamp(share, range.min, range.max));
    }
    return result;
  }

 private:
  std::int64_t blocks_at(std::size_t u, double sparsity) const {
    return budget_.most_kept(u, sparsity) / budget_.layer(u).weights_per_block;
  }
  std::int64_t kept(std::size_t u) const {
    return weights_[u] / budget_.layer(u).weights_per_block;
  }
  void set(std::size_t u, std::int64_t blocks) {
    weights_[u] = blocks * budget_.layer(u).weights_per_block;
  }

  // No fewer than `least` blocks of unit u, and as many as the time allows.
  void take(std::size_t u, std::int64_t least, double ms) {
    std::int64_t beyond = kept(u);
    while (beyond - least > 1) {
      const std::int64_t middle = least + (beyond - least) / 2;
      set(u, middle);
      (budget_.cost(weights_) <= ms ? least : beyond) = middle;
    }
    set(u, least);
  }

  std::optional<Step> best_step(std::size_t u) {
    const std::int64_t now = kept(u), room = now - least_[u];
    if (budget_.range(u).excluded || room <= 0) return std::nullopt;
    const double ms = budget_.unit_ms(u, weights_), before = budget_.summed_loss(curves_[u], now);
    const std::int64_t steps = std::min(room, kSteps);
    std::optional<Step> best;
    for (std::int64_t i = 1; i <= steps; ++i) {
      const std::int64_t left = now - (room * i + steps - 1) / steps;
      set(u, left);
      const double saved = ms - budget_.unit_ms(u, weights_);
      const double loss = budget_.summed_loss(curves_[u], left) - before;
      if (saved <= kRounding * ms) continue;
      if (!best || loss / saved < best->price) best = {left, loss / saved};
    }
    set(u, now);
    return best;
  }

  std::optional<std::size_t> cheapest() const {
    std::optional<std::size_t> unit;
    for (std::size_t u = 0; u < best_.size(); ++u) {
      if (best_[u] && (!unit || best_[u]->price < best_[*unit]->price)) unit = u;
    }
    return unit;
  }

  // A unit's step is worth less when others that meet it in a layer have gone.
  void renew(std::size_t changed) {
    for (std::size_t u = 0; u < budget_.size(); ++u) {
      if (u == changed || budget_.share_layers(u, changed)) best_[u] = best_step(u);
    }
  }

  const LayerBudget& budget_;
  std::span<const MagnitudeCurve> curves_;
  std::vector<std::int64_t> least_;        // blocks
  std::vector<std::int64_t> weights_;      // kept now
  std::vector<std::optional<Step>> best_;  // [units]
};

}  // namespace

std::vector<double> least_loss_of_channels(double density, const LayerBudget& budget,
                                           std::span<const MagnitudeCurve> curves) {
  Descent descent(budget, curves);
  descent.go_down_to(budget.cost_at(density) * (1.0 - kRounding));
  return descent.sparsities();
}

}  // namespace winnow
