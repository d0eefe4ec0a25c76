#include "prune/evolution/budget/least_loss_allocation.h"

#include <algorithm>

#include "prune/evolution/budget/convex_hull.h"

namespace winnow {
namespace {

constexpr double kRounding = 1e-12;  // sums of costs in another order differ by less

using Ways = std::vector<LayerWay>;  // of a layer, from the cheapest on

// Each costs more than the one before and loses less.
Ways ways_of(std::size_t i, const LayerBudget& budget, const MagnitudeCurve& curve,
             std::size_t option) {
  const LayerRange& range = budget.range(i);
  const auto blocks = static_cast<double>(budget.layer(i).blocks);
  Ways ways;
  for (std::size_t k = 0; k < curve.ranks.size(); ++k) {
    const double wanted = 1.0 - static_cast<double>(curve.ranks[k] + 1) / blocks;
    const double sparsity = std::clamp(wanted, range.min, range.max);
    const LayerWay way = {sparsity, budget.kept_cost(i, sparsity),
                          budget.summed_loss(curve, curve.ranks[k] + 1), option};
    while (!ways.empty() && ways.back().cost >= way.cost) ways.pop_back();  // it loses more
    ways.push_back(way);
  }
  return ways;
}

// Those of all options together; of equal ones the first option's.
Ways ways_of(std::size_t i, std::span<const TimeOption> options) {
  Ways all;
  for (std::size_t o = 0; o < options.size(); ++o) {
    const Ways own = ways_of(i, *options[o].budget, options[o].curves[i], o);
    if (options.size() == 1) return own;
    all.insert(all.end(), own.begin(), own.end());
  }
  std::ranges::stable_sort(all, [](const LayerWay& a, const LayerWay& b) {
    return std::pair(a.cost, a.loss) < std::pair(b.cost, b.loss);
  });
  Ways ways;
  for (const LayerWay& way : all) {
    if (ways.empty() || way.loss < ways.back().loss) ways.push_back(way);
  }
  return ways;
}

// Indices into `ways` of those on the hull.
std::vector<std::size_t> hull_of(const Ways& ways) {
  std::vector<PlanePoint> points;
  for (const LayerWay& way : ways) points.emplace_back(way.cost, way.loss);
  std::vector<std::size_t> indices;
  std::size_t next = 0;
  for (const PlanePoint& point : lower_hull(points)) {
    while (points[next] != point) ++next;
    indices.push_back(next);
  }
  return indices;
}

struct Step {
  std::size_t layer = 0;
  std::size_t to = 0;  // index of a way
  double gain = 0.0;   // loss won back per cost
};

std::vector<Step> steps_of(const std::vector<Ways>& ways) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const std::vector<std::size_t> hull = hull_of(ways[i]);
    for (std::size_t k = 1; k < hull.size(); ++k) {
      const LayerWay &from = ways[i][hull[k - 1]], &to = ways[i][hull[k]];
      steps.push_back({i, hull[k], (from.loss - to.loss) / (to.cost - from.cost)});
    }
  }
  // A layer's own steps gain less and less, so they stay in order.
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.gain > b.gain; });
  return steps;
}

// The last way from `from` to `to` that costs no more than `most`.
std::size_t as_far_as(const Ways& ways, std::size_t from, std::size_t to, double most) {
  while (to > from && ways[to].cost > most) --to;
  return to;
}

// The way that is taken, as least_loss_ways() says.
LayerWay taken_of(const Ways& ways, std::size_t taken) {
  LayerWay way = ways[taken];
  const std::vector<std::size_t> hull = hull_of(ways);
  if (taken + 1 == ways.size() && hull.size() > 1) way.option = ways[hull[hull.size() - 2]].option;
  return way;
}

}  // namespace

std::vector<LayerWay> least_loss_ways(double density, std::span<const TimeOption> options) {
  const LayerBudget& budget = *options.front().budget;
  std::vector<Ways> ways(budget.size());
  std::vector<std::size_t> taken(budget.size(), 0);
  std::vector<bool> is_full(budget.size(), false);
  double left = budget.spendable(density) - kRounding * budget.spendable(1.0);
  for (std::size_t i = 0; i < budget.size(); ++i) {
    if (budget.range(i).excluded) continue;
    ways[i] = ways_of(i, options);
    left -= ways[i].front().cost;
  }
  for (const Step& step : steps_of(ways)) {
    if (is_full[step.layer]) continue;
    const Ways& own = ways[step.layer];
    std::size_t& now = taken[step.layer];
    const double before = own[now].cost;
    now = as_far_as(own, now, step.to, before + left);
    left -= own[now].cost - before;
    is_full[step.layer] = now != step.to;
  }
  std::vector<LayerWay> result;
  for (std::size_t i = 0; i < budget.size(); ++i) {
    result.push_back(ways[i].empty() ? LayerWay{.sparsity = budget.range(i).min}
                                     : taken_of(ways[i], taken[i]));
  }
  return result;
}

std::vector<double> least_loss_within(double density, const LayerBudget& budget,
                                      std::span<const MagnitudeCurve> curves) {
  const TimeOption only = {&budget, curves};
  std::vector<double> sparsities;
  for (const LayerWay& way : least_loss_ways(density, {&only, 1})) {
    sparsities.push_back(way.sparsity);
  }
  return sparsities;
}

}  // namespace winnow
