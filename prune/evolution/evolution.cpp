#include "prune/evolution/evolution.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "prune/evolution/iteration.h"
#include "prune/evolution/population.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

const EvolutionConfig& checked(const EvolutionConfig& config) {
  check_config(config);
  return config;
}

void check_layers(const EvolutionState& state, std::size_t layers) {
  const auto differs = [layers](std::size_t found) {
    if (found == layers) return;
    fail(ErrorCode::bad_file, "evolution state: found ", found, " layers, the network has ",
         layers);
  };
  differs(state.learned.sensitivity.size());
  for (const Solution& solution : state.pool) {
    differs(solution.sparsities.size());
    differs(solution.plan.size());
    differs(solution.kept_weights.size());
  }
}

void make_first_pool(const EvolutionConfig& config, const LayerBudget& budget, Trainee& trainee,
                     EvolutionState& state) {
  Random random = Random::from_state(state.random);
  state.pool = first_pool(config, budget, trainee, state.alpha, random);  // may throw
  state.random = random.state();
  state.next_id = config.pool_size;
  state.best_id = find_best(state.pool, budget.goal_density());
  double sum = 0.0;
  for (const Solution& solution : state.pool) sum += solution.density;
  state.initial_density = sum / static_cast<double>(state.pool.size());
}

}  // namespace

Evolution::Evolution(const EvolutionConfig& config, Trainee& trainee)
    : config_(checked(config)), trainee_(trainee), budget_(config_, trainee.layers()) {
  state_.random = Random(config_.seed).state();
  state_.alpha = config_.alpha;
  state_.learned.sensitivity.assign(budget_.size(), 0.0);
}

Evolution::Evolution(const EvolutionConfig& config, Trainee& trainee, EvolutionState state)
    : config_(checked(config)),
      trainee_(trainee),
      budget_(config_, trainee.layers()),
      state_(std::move(state)) {
  check_layers(state_, budget_.size());
}

IterationRecord Evolution::step() {
  if (finished()) fail(ErrorCode::internal, "evolution: step after the last iteration");
  if (state_.pool.empty()) make_first_pool(config_, budget_, trainee_, state_);
  EvolutionState next = state_;
  IterationRecord record = Iteration(config_, budget_, trainee_, next).run();
  state_ = std::move(next);
  return record;
}

EvolutionResult Evolution::result() const {
  if (state_.pool.empty()) fail(ErrorCode::internal, "evolution: result before the first step");
  const auto best = std::find_if(state_.pool.begin(), state_.pool.end(),
                                 [&](const Solution& s) { return s.id == state_.best_id; });
  EvolutionResult result;
  result.goal = 1.0 - budget_.goal_density();
  if (best != state_.pool.end()) {
    result.best = *best;
  } else {
    const Ranking ranking = {budget_.goal_density(), config_.lag_penalty, 0.0, 1.0};
    result.best = state_.pool[ranked(state_.pool, ranking).front()];
  }
  result.target_met = result.best.density <= 1.0 - config_.target_sparsity;
  result.weight_sparsity = 1.0 - budget_.weight_density(result.best.kept_weights);
  if (!result.target_met) result.shortfall = shortfall(result);
  return result;
}

std::string Evolution::shortfall(const EvolutionResult& result) const {
  std::ostringstream text;
  text << "target_sparsity " << config_.target_sparsity << " is not met: ";
  if (budget_.goal_density() > 1.0 - config_.target_sparsity) {
    text << "max_layer_sparsity, layer_limits and exclude allow at most " << result.goal;
  } else if (!finished()) {
    text << config_.iter_nr - state_.iteration << " iterations are left";
  } else {
    text << "no forced iteration had a finite training loss";
  }
  text << "; reached " << result.best.sparsity();
  return text.str();
}

}  // namespace winnow
