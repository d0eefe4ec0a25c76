#include "prune/evolution/iteration.h"

#include <algorithm>
#include <utility>

#include "prune/evolution/layer_choice.h"
#include "prune/evolution/migration.h"
#include "prune/evolution/population/operators.h"
#include "prune/evolution/population/population.h"
#include "prune/evolution/population/sensitivity.h"

namespace winnow {
namespace {

// How much a rejection lowers the level that it failed to reach, at least: without it a level that
// chance made too high would reject everything for ever.
constexpr double kLeastErosion = 0.001;

// Of the reference accuracy: what falls below that seldom recovers.
constexpr double kCollapse = 0.5;

constexpr double kUniform = 1.0;  // layers of a copy: by chance alone

}  // namespace

Iteration::Iteration(const EvolutionConfig& config, const LayerBudget& budget,
                     EvolutionState& state, Proposal proposal, Trial trial)
    : config_(config),
      budget_(budget),
      state_(state),
      planner_{config, budget, state},
      schedule_(config, state.initial_density, budget.goal_density()),
      ranking_(ranking_in(state.iteration, config, budget, state)),
      random_(Random::from_state(state.random)),
      proposal_(std::move(proposal)),
      trial_(std::move(trial)),
      record_(proposal_.record) {
  record_.offspring = std::move(trial_.offspring);
  record_.chosen = trial_.chosen;
  record_.judged_batches =
      static_cast<std::int64_t>(record_.offspring.size()) * config_.judge_batches;
  record_.sparsities = trial_.sparsities;
  record_.loss = trial_.loss;
  record_.accuracy = trial_.accuracy;
  record_.is_finite = trial_.is_finite;
  record_.migration = total(trial_.migrations);
  // What is kept is that of the last masks, not of all.
  const std::size_t last =
      trial_.migrations.size() - std::min(trial_.migrations.size(), budget.size());
  const Migration now = total(std::span(trial_.migrations).subspan(last));
  record_.migration.kept = now.kept;
  record_.migration.kept_weights = now.kept_weights;
}

Solution* Iteration::find(std::int64_t id) {
  const auto found = std::find_if(state_.pool.begin(), state_.pool.end(),
                                  [&](const Solution& solution) { return solution.id == id; });
  return found == state_.pool.end() ? nullptr : &*found;
}

bool Iteration::judge() {
  const double density = budget_.density(trial_.kept_weights);
  const Solution* parent = find(proposal_.parent.id);
  reference_ = find_reference(state_.pool, parent ? *parent : proposal_.parent, density,
                              config_.comparable_range, ranking_);
  record_.reference = reference_.accuracy;
  record_.improvement = record_.accuracy - record_.reference;
  collapsed_ = trial_.is_finite && is_refused_collapse();
  record_.accepted = trial_.is_finite && !collapsed_ &&
                     (record_.forced || record_.improvement > config_.acc_threshold);

  const bool sparsest =
      std::all_of(state_.pool.begin(), state_.pool.end(),
                  [&](const Solution& solution) { return density < solution.density; });
  progress_ = record_.accepted && (record_.improvement > 0.0 || sparsest);
  return record_.accepted;
}

// While phase rise goes on the next iteration is forced as well, and may do better. Not twice in a
// row: the pace goes on, and steps would only grow.
bool Iteration::is_refused_collapse() const {
  return record_.forced && !state_.collapsed &&
         schedule_.phase(state_.iteration + 1) == Phase::rise &&
         record_.accuracy < kCollapse * record_.reference;
}

IterationRecord Iteration::conclude() {
  state_.batches += config_.batch_nr;
  if (record_.accepted) {
    accept();
  } else {
    reject();
  }
  update_statistics();
  if (record_.phase != Phase::tune) note_progress();
  finish();
  return std::move(record_);
}

Solution Iteration::make_child() {
  Solution* parent = find(proposal_.parent.id);
  const double level = parent ? parent->level : proposal_.parent.level;
  Solution child;
  child.id = state_.next_id;
  child.parent = proposal_.parent.id;
  child.trained = proposal_.parent.trained + config_.batch_nr;
  child.sparsities = record_.sparsities;
  set_kept(child, trial_.kept_weights, budget_);
  child.accuracy = record_.accuracy;
  child.level = level_after(level, record_.accuracy, config_.accuracy_smoothing);
  child.snapshot = trial_.snapshot;
  child.plan = incremented(child);
  return child;
}

void Iteration::accept() {
  Solution child = make_child();
  if (Solution* parent = find(proposal_.parent.id)) {
    parent->plan = parent->sparsities;  // this plan has been tried
    if (comparable(child, parent->density, config_.comparable_range)) ++parent->continued;
  }

  ++state_.next_id;
  record_.child = child.id;
  std::vector<Solution>& pool = state_.pool;
  pool.push_back(std::move(child));
  state_.best_id = find_best(pool, budget_.goal_density());
  child = std::move(pool.back());
  pool.pop_back();
  const bool written =
      write_to_pool(pool, std::move(child), config_.pool_size, state_.best_id, ranking_);
  record_.action = written ? Action::written : Action::dropped;
  if (!written) record_.child = -1;
}

std::vector<double> Iteration::incremented(const Solution& child) const {
  const std::int64_t next = state_.iteration + 1;
  if (schedule_.phase(next) != Phase::rise) return child.sparsities;
  const double density = budget_.planned_density(child.sparsities);
  const double wanted = schedule_.next_density(next, density);
  if (wanted >= density) return child.sparsities;
  // A base allocation divides the density among all layers, whatever this plan's layers are.
  if (wanted <= budget_.goal_density() || config_.base_allocation) {
    return planner_.deepened(child.sparsities, wanted);
  }
  const double share = 1.0 - wanted / density;
  const double step = std::min(1.0, std::max(config_.sparsity_step, 2.0 * share));
  return increment(child.sparsities, record_.layers, planner_.willing(child.sparsities),
                   {wanted, step}, budget_);
}

void Iteration::reject() {
  if (Solution* holder = find(reference_.holder)) {
    const double short_of = -record_.improvement;
    if (trial_.is_finite && short_of > 0.0) {
      holder->level -= std::min(short_of, std::max(ranking_.tolerance / 2, kLeastErosion));
    }
  }
  record_.action = Action::rewound;
  Solution* parent = find(proposal_.parent.id);
  if (proposal_.masks_fixed || parent == nullptr) return;
  // Masks of weights that are no numbers say nothing: then what was planned has failed.
  const std::vector<double>& failed =
      trial_.is_finite ? record_.sparsities : proposal_.record.sparsities;
  parent->plan = halfway(proposal_.parent.sparsities, failed);
  if (random_.chance(config_.crossover_probability) && state_.pool.size() > 1) {
    cross_two();
  } else {
    mutate_parent(*parent);
  }
}

void Iteration::mutate_parent(Solution& parent) {
  parent.plan = mutate(parent.plan, record_.layers, config_.mutation_range, budget_, random_);
  record_.action = Action::mutation;
}

// What one parent's exchange frees, its other layers take over: neither plans a step back.
void Iteration::cross_two() {
  const std::vector<std::int64_t> order =
      permutation(static_cast<std::int64_t>(state_.pool.size()), random_);
  Solution& a = state_.pool[static_cast<std::size_t>(order[0])];
  Solution& b = state_.pool[static_cast<std::size_t>(order[1])];
  cross(a.plan, b.plan, random_);
  for (Solution* solution : {&a, &b}) {
    const double density = budget_.planned_density(solution->sparsities);
    solution->plan = planner_.deepened(solution->plan, density);
  }
  record_.action = Action::crossover;
}

// From a network that is not finite nothing is learned.
void Iteration::update_statistics() {
  if (!proposal_.masks_fixed) {
    record_.migration_rate = migration_rate(trial_.migrations, budget_.size());
    record_.migration_rates = migration_rates(trial_.migrations, budget_.size());
  }
  if (!trial_.is_finite) return;
  if (!proposal_.masks_fixed) {
    state_.alphas = next_alphas(state_.alphas, trial_.migrations, masks_of(config_), config_);
  }
  update_sensitivity(state_.learned,
                     {proposal_.parent.sparsities, record_.sparsities,
                      record_.accuracy - proposal_.parent.accuracy},
                     config_.sensitivity_smoothing);
}

void Iteration::note_progress() {
  state_.without_progress = progress_ ? 0 : state_.without_progress + 1;
  if (state_.without_progress < config_.patience) return;
  differentiate();
  state_.without_progress = 0;
  record_.stagnation = true;
}

void Iteration::differentiate() {
  std::vector<Solution> pool = keep_representatives(state_.pool, config_, state_.best_id, ranking_);
  const std::size_t kept = pool.size();
  for (std::size_t i = 0; static_cast<std::int64_t>(pool.size()) < config_.pool_size; ++i) {
    Solution copy = pool[i % kept];
    copy.parent = copy.id;
    copy.id = state_.next_id++;
    const std::vector<std::int64_t> layers =
        choose_layers(copy.sparsities, planner_.willing(copy.sparsities),
                      {config_.layer_fraction, kUniform}, budget_, random_);
    copy.plan = mutate(copy.sparsities, layers, config_.mutation_range, budget_, random_);
    pool.push_back(std::move(copy));
  }
  std::sort(pool.begin(), pool.end(),
            [](const Solution& a, const Solution& b) { return a.id < b.id; });
  state_.pool = std::move(pool);
}

void Iteration::finish() {
  for (std::size_t i = 0; i < budget_.size(); ++i) {
    record_.kept.push_back(static_cast<double>(trial_.kept_weights[i]) /
                           static_cast<double>(budget_.layer(i).weights));
  }
  record_.sparsity = 1.0 - budget_.density(trial_.kept_weights);
  record_.weight_sparsity = 1.0 - budget_.weight_density(trial_.kept_weights);
  if (!budget_.is_proportional()) record_.predicted_ms = budget_.cost(trial_.kept_weights);
  record_.batches = state_.batches;
  record_.sensitivity = state_.learned.sensitivity;
  record_.pool = summarize(state_.pool);
  for (const Solution& solution : state_.pool) {
    if (solution.id != state_.best_id) continue;
    record_.best_accuracy = solution.accuracy;
    record_.best_sparsity = solution.sparsity();
  }
  state_.random = random_.state();
  state_.collapsed = collapsed_ ? 1 : 0;
  ++state_.iteration;
}

}  // namespace winnow
