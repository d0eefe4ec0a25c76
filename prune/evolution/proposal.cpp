#include "prune/evolution/proposal.h"

#include <algorithm>
#include <cmath>

#include "prune/evolution/layer_choice.h"
#include "prune/evolution/planning.h"
#include "prune/evolution/schedule.h"

namespace winnow {
namespace {

bool contains(std::span<const std::int64_t> ids, std::int64_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

Ranking ranking_in(std::int64_t iteration, const EvolutionConfig& config, const LayerBudget& budget,
                   const EvolutionState& state) {
  const Schedule schedule(config, state.initial_density, budget.goal_density());
  return {schedule.wanted_density(iteration), config.lag_penalty, std::abs(config.acc_threshold),
          schedule.allowed_density(iteration)};
}

Proposal propose(std::int64_t iteration, std::span<const std::int64_t> taken,
                 const EvolutionConfig& config, const LayerBudget& budget, EvolutionState& state) {
  const Schedule schedule(config, state.initial_density, budget.goal_density());
  const Ranking ranking = ranking_in(iteration, config, budget, state);
  const Planner planner{config, budget, state};
  Random random = Random::from_state(state.random);
  Proposal proposal;
  IterationRecord& record = proposal.record;
  record.iteration = iteration;
  record.alphas = state.alphas;
  record.phase = schedule.phase(iteration);
  record.forced = std::all_of(state.pool.begin(), state.pool.end(), [&](const Solution& solution) {
    return solution.density > ranking.allowed_density;
  });
  proposal.masks_fixed = record.phase == Phase::tune && !record.forced;
  proposal.first_batch = state.batches + (iteration - state.iteration) * config.batch_nr;

  std::vector<std::size_t> order = ranked(state.pool, ranking);
  if (taken.size() < state.pool.size()) {
    std::erase_if(order, [&](std::size_t i) { return contains(taken, state.pool[i].id); });
  }
  const double progress = record.forced ? 1.0 : schedule.progress(iteration);
  const double pressure = config.selection_pressure + (1.0 - config.selection_pressure) * progress;
  proposal.parent = state.pool[choose_ranked(order, pressure, random)];
  const Solution& parent = proposal.parent;
  record.solution = parent.id;
  record.sparsities = parent.sparsities;
  if (!proposal.masks_fixed) {
    record.layers =
        choose_layers(parent.sparsities, planner.willing(parent.sparsities),
                      {config.layer_fraction, config.layer_exploration}, budget, random);
    const double most = record.forced                 ? schedule.forced_density(iteration)
                        : record.phase != Phase::rise ? budget.goal_density()
                                                      : 1.0;
    record.sparsities = planner.deepened(parent.plan, most);
  }
  state.random = random.state();
  return proposal;
}

}  // namespace winnow
