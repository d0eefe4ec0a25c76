#include "prune/evolution/population/population.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "prune/evolution/budget/allocation.h"
#include "prune/evolution/population/clusters.h"

namespace winnow {
namespace {

std::vector<double> random_sparsities(const EvolutionConfig& config, const LayerBudget& budget,
                                      Random& random) {
  std::vector<double> sparsities;
  for (std::size_t i = 0; i < budget.size(); ++i) {
    const double drawn = random.uniform(config.initial_sparsity_min, config.initial_sparsity_max);
    const double given = budget.layer(i).initial_sparsity;
    const double wanted = given > 0.0 ? 1.0 - (1.0 - given) * (1.0 - drawn) : drawn;
    sparsities.push_back(std::clamp(wanted, budget.range(i).min, budget.range(i).max));
  }
  return sparsities;
}

std::vector<std::int64_t> kept_weights(std::span<const Migration> migrations) {
  std::vector<std::int64_t> kept;
  for (const Migration& migration : migrations) kept.push_back(migration.kept_weights);
  return kept;
}

// What divides the first solutions, in their order; the others are as they are drawn. The first one
// of a budget of time loses least by magnitude: chance alone finds no layers that jump over the
// flat parts of costs.
std::vector<Allocation> first_allocations(const EvolutionConfig& config,
                                          const LayerBudget& budget) {
  if (!config.known_first_pool) {
    return budget.is_proportional() ? std::vector<Allocation>{}
                                    : std::vector{Allocation::least_loss};
  }
  std::vector<Allocation> known = known_allocations(budget);
  if (!budget.is_proportional()) std::ranges::rotate(known, known.end() - 1);
  return known;
}

// As dense as what was drawn would be.
std::vector<double> first_sparsities(std::vector<double> drawn, std::size_t id,
                                     std::span<const Allocation> allocations,
                                     const LayerBudget& budget, Trainee& trainee) {
  if (id >= allocations.size()) return drawn;
  return allocate(allocations[id], budget.planned_density(drawn), budget,
                  trainee.magnitude_curves());
}

bool holds(std::span<const Solution> pool, const std::vector<double>& sparsities) {
  return std::any_of(pool.begin(), pool.end(),
                     [&](const Solution& solution) { return solution.sparsities == sparsities; });
}

std::vector<Solution> measured_pool(const EvolutionConfig& config, const LayerBudget& budget,
                                    Trainee& trainee, std::span<const double> alphas,
                                    const Snapshot& start, Random& random) {
  std::vector<Solution> pool;
  const std::vector<Allocation> allocations = first_allocations(config, budget);
  for (std::int64_t i = 0; i < config.pool_size; ++i) {
    Solution solution;
    solution.id = std::ssize(pool);
    trainee.restore(start);
    solution.sparsities =
        first_sparsities(random_sparsities(config, budget, random), static_cast<std::size_t>(i),
                         allocations, budget, trainee);
    if (holds(pool, solution.sparsities)) continue;
    solution.plan = solution.sparsities;
    set_kept(solution, kept_weights(trainee.recompute_masks(solution.sparsities, alphas)), budget);
    const double accuracy = trainee.measure_accuracy();
    solution.accuracy = std::isfinite(accuracy) ? accuracy : 0.0;
    solution.level = solution.accuracy;
    solution.snapshot = trainee.snapshot();
    pool.push_back(std::move(solution));
  }
  return pool;
}

bool is_dominated(const Solution& solution, std::span<const Solution> pool, double tolerance) {
  return std::any_of(pool.begin(), pool.end(),
                     [&](const Solution& other) { return dominates(other, solution, tolerance); });
}

// Index of the solution to give up, or nothing if the pool holds only the best.
std::optional<std::size_t> worst_of(std::span<const Solution> pool, std::int64_t best_id,
                                    const Ranking& ranking) {
  std::optional<std::size_t> worst;
  bool worst_dominated = false;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    if (pool[i].id == best_id) continue;
    const bool dominated = is_dominated(pool[i], pool, ranking.tolerance);
    const bool leaves =
        !worst ||
        (dominated != worst_dominated ? dominated : worse(pool[i], pool[*worst], ranking));
    if (leaves) {
      worst = i;
      worst_dominated = dominated;
    }
  }
  return worst;
}

}  // namespace

std::vector<Solution> first_pool(const EvolutionConfig& config, const LayerBudget& budget,
                                 Trainee& trainee, std::span<const double> alphas, Random& random) {
  const std::shared_ptr<const Snapshot> start = trainee.snapshot();
  try {
    return measured_pool(config, budget, trainee, alphas, *start, random);
  } catch (...) {
    trainee.restore(*start);
    throw;
  }
}

void set_kept(Solution& solution, std::vector<std::int64_t> kept_weights,
              const LayerBudget& budget) {
  solution.kept_weights = std::move(kept_weights);
  solution.density = budget.density(solution.kept_weights);
}

std::int64_t find_best(std::span<const Solution> pool, double goal_density) {
  const Solution* best = nullptr;
  for (const Solution& solution : pool) {
    if (solution.density > goal_density) continue;
    const bool better = best == nullptr || solution.accuracy > best->accuracy ||
                        (solution.accuracy == best->accuracy && solution.density < best->density);
    if (better) best = &solution;
  }
  return best == nullptr ? -1 : best->id;
}

bool write_to_pool(std::vector<Solution>& pool, Solution child, std::int64_t capacity,
                   std::int64_t best_id, const Ranking& ranking) {
  const std::int64_t id = child.id;
  pool.push_back(std::move(child));
  if (static_cast<std::int64_t>(pool.size()) <= capacity) return true;
  const std::optional<std::size_t> worst = worst_of(pool, best_id, ranking);
  const bool stays = pool[*worst].id != id;  // a pool has two solutions or more
  pool.erase(pool.begin() + static_cast<std::ptrdiff_t>(*worst));
  return stays;
}

std::vector<Solution> keep_representatives(std::span<const Solution> pool,
                                           const EvolutionConfig& config, std::int64_t best_id,
                                           const Ranking& ranking) {
  std::vector<std::vector<double>> plans;
  for (const Solution& solution : pool) plans.push_back(solution.plan);
  const std::vector<std::size_t> order = ranked(pool, ranking);
  const std::vector<std::size_t> clusters =
      cluster(plans, static_cast<std::size_t>(config.clusters), order.front());
  std::vector<std::size_t> kept =
      representatives(clusters, order, static_cast<std::size_t>(config.representatives));
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const bool missing = std::find(kept.begin(), kept.end(), i) == kept.end();
    if (pool[i].id == best_id && missing) kept.push_back(i);
  }
  std::vector<Solution> survivors;
  for (const std::size_t i : kept) survivors.push_back(pool[i]);
  return survivors;
}

PoolSummary summarize(std::span<const Solution> pool) {
  PoolSummary summary;
  std::vector<std::vector<double>> plans;
  for (const Solution& solution : pool) {
    const double sparsity = solution.sparsity();
    const bool first = plans.empty();
    summary.best_accuracy = std::max(summary.best_accuracy, solution.accuracy);
    summary.mean_accuracy += solution.accuracy / static_cast<double>(pool.size());
    summary.min_sparsity = first ? sparsity : std::min(summary.min_sparsity, sparsity);
    summary.max_sparsity = first ? sparsity : std::max(summary.max_sparsity, sparsity);
    plans.push_back(solution.plan);
  }
  summary.size = static_cast<std::int64_t>(pool.size());
  summary.spread = spread(plans);
  return summary;
}

}  // namespace winnow
