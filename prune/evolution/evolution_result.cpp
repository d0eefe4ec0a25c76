#include "prune/evolution/evolution_result.h"

#include <algorithm>
#include <cmath>

#include "prune/evolution/population/ranking.h"
#include "runtime/base/error.h"
#include "runtime/base/number_text.h"

namespace winnow {
namespace {

// In what the target is said.
std::string amount(const EvolutionConfig& config, double cost, double sparsity) {
  if (config.budget == Budget::time) return general(cost, 6) + " ms";
  if (config.target_kept > 0) return fixed(cost, 0) + " kept";
  return "sparsity " + general(sparsity, 6);
}

std::string shortfall_of(const EvolutionConfig& config, const LayerBudget& budget,
                         const EvolutionState& state, const EvolutionResult& result) {
  const auto at = [&](double density) {
    return amount(config, budget.cost_at(density), 1.0 - density);
  };
  std::string text = "target of " + at(budget.target_density()) + " is not met: ";
  if (budget.goal_density() > budget.target_density()) {
    text += "max_layer_sparsity, layer_limits and exclude";
    if (budget.has_balanced_rows()) text += ", with row_balance a block in every row,";
    text += " end at " + at(budget.goal_density());
  } else if (state.iteration < config.iter_nr) {
    text += std::to_string(config.iter_nr - state.iteration) + " iterations are left";
  } else {
    text +=
        "in no iteration that was forced to it loss, weights and statistics stayed finite, lower "
        "prune.learning_rate or set train.clip_norm";
  }
  return text + "; reached " + amount(config, result.cost, result.best.sparsity());
}

}  // namespace

EvolutionResult result_of(const EvolutionConfig& config, const LayerBudget& budget,
                          const EvolutionState& state) {
  if (state.pool.empty()) fail(ErrorCode::internal, "pruning: result before the first step");
  const auto best = std::find_if(state.pool.begin(), state.pool.end(),
                                 [&](const Solution& s) { return s.id == state.best_id; });
  EvolutionResult result;
  result.goal = 1.0 - budget.goal_density();
  if (best != state.pool.end()) {
    result.best = *best;
  } else {
    const Ranking ranking = {budget.goal_density(), config.lag_penalty, 0.0, 1.0};
    result.best = state.pool[ranked(state.pool, ranking).front()];
  }
  result.target_met = result.best.density <= budget.target_density();
  result.cost = budget.cost(result.best.kept_weights);
  result.weight_sparsity = 1.0 - budget.weight_density(result.best.kept_weights);
  const Ranking at_goal = {budget.goal_density(), config.lag_penalty,
                           std::abs(config.acc_threshold), 1.0};
  for (const Solution& solution : state.pool) {
    result.fitness.push_back(fitness(solution, at_goal));
  }
  if (!result.target_met) result.shortfall = shortfall_of(config, budget, state, result);
  return result;
}

}  // namespace winnow
