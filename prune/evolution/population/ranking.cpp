#include "prune/evolution/population/ranking.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace winnow {

double merit(const Solution& solution, double tolerance) {
  return solution.level - tolerance * static_cast<double>(solution.continued);
}

double fitness(const Solution& solution, const Ranking& ranking) {
  const double lag = std::max(0.0, std::log(solution.density / ranking.wanted_density));
  return merit(solution, ranking.tolerance) - ranking.lag_penalty * lag;
}

bool dominates(const Solution& a, const Solution& b, double tolerance) {
  const double merit_a = merit(a, tolerance);
  const double merit_b = merit(b, tolerance);
  return a.density <= b.density && merit_a >= merit_b &&
         (a.density < b.density || merit_a > merit_b);
}

bool worse(const Solution& a, const Solution& b, const Ranking& ranking) {
  const bool dense_a = a.density > ranking.allowed_density;
  const bool dense_b = b.density > ranking.allowed_density;
  if (dense_a != dense_b) return dense_a;
  return fitness(a, ranking) < fitness(b, ranking);
}

std::vector<std::size_t> ranked(std::span<const Solution> pool, const Ranking& ranking) {
  std::vector<std::size_t> order(pool.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (worse(pool[b], pool[a], ranking)) return true;
    return !worse(pool[a], pool[b], ranking) && pool[a].id > pool[b].id;
  });
  return order;
}

std::size_t choose_ranked(std::span<const std::size_t> order, double pressure, Random& random) {
  for (const std::size_t index : order) {
    if (random.chance(pressure)) return index;
  }
  return order.back();
}

bool comparable(const Solution& solution, double density, double range) {
  return solution.density <= density || std::log(solution.density / density) <= range;
}

Reference find_reference(std::span<const Solution> pool, const Solution& parent, double density,
                         double range, const Ranking& ranking) {
  const double least = std::max(density, ranking.wanted_density);
  const auto held_to = [&](const Solution& solution) {
    return solution.level - ranking.lag_penalty * std::max(0.0, std::log(solution.density / least));
  };
  Reference best = {parent.id, held_to(parent)};
  for (const Solution& solution : pool) {
    if (comparable(solution, density, range) && held_to(solution) > best.accuracy) {
      best = {solution.id, held_to(solution)};
    }
  }
  return best;
}

double level_after(double parent_level, double accuracy, double smoothing) {
  return std::min(accuracy, parent_level + smoothing * (accuracy - parent_level));
}

}  // namespace winnow
