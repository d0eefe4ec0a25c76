#include "prune/evolution/evolution.h"

#include <algorithm>
#include <utility>

#include "prune/evolution/iteration.h"
#include "prune/evolution/planning.h"
#include "prune/evolution/population/population.h"
#include "prune/evolution/ranks/generation.h"
#include "prune/evolution/schedule.h"
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

// Masks that move within iterations do so from the first one on.
void plan_first_steps(const EvolutionConfig& config, const LayerBudget& budget,
                      EvolutionState& state) {
  const Schedule schedule(config, state.initial_density, budget.goal_density());
  const Planner planner{config, budget, state};
  for (Solution& solution : state.pool) {
    const double density = budget.planned_density(solution.sparsities);
    solution.plan = planner.deepened(solution.sparsities, schedule.next_density(0, density));
  }
}

void make_first_pool(const EvolutionConfig& config, const LayerBudget& budget, Trainee& trainee,
                     EvolutionState& state) {
  Random random = Random::from_state(state.random);
  state.pool = first_pool(config, budget, trainee, state.alphas, random);  // may throw
  state.random = random.state();
  state.next_id = std::ssize(state.pool);
  state.best_id = find_best(state.pool, budget.goal_density());
  double sum = 0.0;
  for (const Solution& solution : state.pool) sum += solution.density;
  state.initial_density = sum / static_cast<double>(state.pool.size());
  if (batches_between_masks(config) < config.batch_nr) plan_first_steps(config, budget, state);
}

}  // namespace

Evolution::Evolution(const EvolutionConfig& config, Trainee& trainee, Peers& peers)
    : config_(checked(config)),
      trainee_(trainee),
      peers_(peers),
      budget_(config_, trainee.layers()) {
  state_.random = Random(config_.seed).state();
  state_.alphas.assign(budget_.size(), config_.alpha);
  state_.learned.sensitivity.assign(budget_.size(), 0.0);
}

Evolution::Evolution(const EvolutionConfig& config, Trainee& trainee, EvolutionState state,
                     Peers& peers)
    : config_(checked(config)),
      trainee_(trainee),
      peers_(peers),
      budget_(config_, trainee.layers()),
      state_(std::move(state)) {
  check_layers(state_, budget_.size());
}

std::vector<IterationRecord> Evolution::step() {
  if (finished()) fail(ErrorCode::internal, "evolution: step after the last iteration");
  if (state_.pool.empty()) make_first_pool(config_, budget_, trainee_, state_);
  EvolutionState next = state_;
  const std::int64_t count = std::min(config_.generation, config_.iter_nr - next.iteration);
  std::vector<Proposal> proposals;
  std::vector<std::int64_t> taken;
  for (std::int64_t i = 0; i < count; ++i) {
    proposals.push_back(propose(next.iteration + i, taken, config_, budget_, next));
    taken.push_back(proposals.back().parent.id);
  }
  std::vector<Trial> trials = try_out_together(proposals, config_, budget_, trainee_, peers_);
  std::vector<IterationRecord> records;
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    const std::shared_ptr<const Snapshot> before = proposals[i].parent.snapshot;
    Iteration turn(config_, budget_, next, std::move(proposals[i]), std::move(trials[i]));
    if (turn.judge()) {
      turn.take(peers_.share(turn.snapshot(), rank_of(i, peers_)));
    } else {
      trainee_.restore(*before);  // line 13
    }
    records.push_back(turn.conclude());
  }
  require_agreement(next, trainee_, peers_);
  state_ = std::move(next);
  return records;
}

EvolutionResult Evolution::result() const {
  return result_of(config_, budget_, state_);
}

}  // namespace winnow
