#include "prune/evolution/iteration.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "prune/evolution/layer_choice.h"
#include "prune/evolution/migration.h"
#include "prune/evolution/offspring.h"
#include "prune/evolution/operators.h"
#include "prune/evolution/population.h"
#include "prune/evolution/sensitivity.h"

namespace winnow {
namespace {

// How much a rejection lowers the level that it failed to reach, at least: without it a level that
// chance made too high would reject everything for ever.
constexpr double kLeastErosion = 0.001;

constexpr double kUniform = 1.0;  // layers of a copy: by chance alone

}  // namespace

Iteration::Iteration(const EvolutionConfig& config, const LayerBudget& budget, Trainee& trainee,
                     EvolutionState& state)
    : config_(config),
      budget_(budget),
      trainee_(trainee),
      state_(state),
      schedule_(config, state.initial_density, budget.goal_density()),
      ranking_{schedule_.wanted_density(state.iteration), config.lag_penalty,
               std::abs(config.acc_threshold), schedule_.allowed_density(state.iteration)},
      random_(Random::from_state(state.random)) {}

IterationRecord Iteration::run() {
  choose();
  compare();
  train();
  judge();
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

void Iteration::choose() {
  record_.iteration = state_.iteration;
  record_.phase = schedule_.phase(state_.iteration);
  record_.forced = std::all_of(
      state_.pool.begin(), state_.pool.end(),
      [&](const Solution& solution) { return solution.density > ranking_.allowed_density; });
  masks_fixed_ = record_.phase == Phase::tune && !record_.forced;

  std::vector<std::size_t> order = ranked(state_.pool, ranking_);
  const double progress = record_.forced ? 1.0 : schedule_.progress(state_.iteration);
  const double pressure =
      config_.selection_pressure + (1.0 - config_.selection_pressure) * progress;
  parent_ = choose_ranked(order, pressure, random_);

  const Solution& parent = state_.pool[parent_];
  record_.solution = parent.id;
  before_ = parent.sparsities;
  accuracy_before_ = parent.accuracy;
  if (masks_fixed_) {
    record_.sparsities = parent.sparsities;
    return;
  }
  record_.layers =
      choose_layers(parent.sparsities, willing(parent.sparsities),
                    {config_.layer_fraction, config_.layer_exploration}, budget_, random_);
  const double most = record_.forced                 ? schedule_.forced_density(state_.iteration)
                      : record_.phase != Phase::rise ? budget_.goal_density()
                                                     : 1.0;
  record_.sparsities = deepened(parent.plan, most);
}

void Iteration::compare() {
  if (config_.offspring == 1 || masks_fixed_) return;
  const Snapshot& start = *state_.pool[parent_].snapshot;
  std::vector<MagnitudeCurve> curves;
  if (config_.known_allocations) {
    trainee_.restore(start);
    curves = trainee_.magnitude_curves();
  }
  record_.offspring =
      make_offspring(record_.sparsities, record_.layers, config_, budget_, curves, random_);
  for (Offspring& plan : record_.offspring) {
    trainee_.restore(start);
    trainee_.recompute_masks(plan.sparsities, state_.alpha);
    plan.loss = trainee_.measure_loss(config_.judge_images);
  }
  record_.chosen = least_loss(record_.offspring);
  record_.sparsities = record_.offspring[record_.chosen].sparsities;
}

void Iteration::train() {
  trainee_.restore(*state_.pool[parent_].snapshot);
  kept_weights_ = state_.pool[parent_].kept_weights;
  record_.alpha = state_.alpha;
  const std::int64_t interval = masks_fixed_ || config_.mask_interval == 0
                                    ? config_.batch_nr
                                    : std::min(config_.mask_interval, config_.batch_nr);
  double loss = 0.0;
  for (std::int64_t done = 0; done < config_.batch_nr;) {
    if (!masks_fixed_) recompute();
    const std::int64_t count = std::min(interval, config_.batch_nr - done);
    loss += trainee_.train_batches(state_.batches + done, count) * static_cast<double>(count);
    done += count;
  }
  record_.loss = loss / static_cast<double>(config_.batch_nr);
  record_.accuracy = trainee_.measure_accuracy();
  state_.batches += config_.batch_nr;
}

void Iteration::recompute() {
  const std::vector<Migration> moved = trainee_.recompute_masks(record_.sparsities, record_.alpha);
  kept_weights_.clear();
  for (const Migration& migration : moved) kept_weights_.push_back(migration.kept_weights);
  migrations_.insert(migrations_.end(), moved.begin(), moved.end());
  const Migration now = total(moved);
  record_.migration.entered += now.entered;
  record_.migration.left += now.left;
  record_.migration.kept = now.kept;
  record_.migration.kept_weights = now.kept_weights;
}

void Iteration::judge() {
  const double density = budget_.density(kept_weights_);
  reference_ = find_reference(state_.pool, parent_, density, config_.comparable_range, ranking_);
  record_.reference = reference_.accuracy;
  record_.improvement = record_.accuracy - record_.reference;
  const bool sound = std::isfinite(record_.loss) && std::isfinite(record_.accuracy);
  record_.accepted = sound && (record_.forced || record_.improvement > config_.acc_threshold);

  const bool sparsest =
      std::all_of(state_.pool.begin(), state_.pool.end(),
                  [&](const Solution& solution) { return density < solution.density; });
  progress_ = record_.accepted && (record_.improvement > 0.0 || sparsest);
}

Solution Iteration::make_child() const {
  const Solution& parent = state_.pool[parent_];
  Solution child;
  child.id = state_.next_id;
  child.parent = parent.id;
  child.trained = parent.trained + config_.batch_nr;
  child.sparsities = record_.sparsities;
  set_kept(child, kept_weights_, budget_);
  child.accuracy = record_.accuracy;
  child.level = level_after(parent.level, record_.accuracy, config_.accuracy_smoothing);
  child.snapshot = trainee_.snapshot();
  child.plan = incremented(child);
  return child;
}

void Iteration::accept() {
  Solution child = make_child();
  Solution& parent = state_.pool[parent_];
  parent.plan = parent.sparsities;  // this plan has been tried
  if (comparable(child, parent.density, config_.comparable_range)) ++parent.continued;

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
  if (wanted <= budget_.goal_density()) return deepened(child.sparsities, wanted);
  const double share = 1.0 - wanted / density;
  const double step = std::min(1.0, std::max(config_.sparsity_step, 2.0 * share));
  return increment(child.sparsities, record_.layers, willing(child.sparsities), {wanted, step},
                   budget_);
}

// `plan` at the given density or below. All layers share in it: this may be a long way.
std::vector<double> Iteration::deepened(const std::vector<double>& plan, double density) const {
  return increment(plan, all_layers(budget_), willing(plan), {density, 1.0}, budget_);
}

std::vector<double> Iteration::willing(const std::vector<double>& sparsities) const {
  return willingness(state_.learned.sensitivity, sparsities, config_.size_exponent, budget_);
}

void Iteration::reject() {
  Solution& holder = state_.pool[reference_.holder];
  const double short_of = -record_.improvement;
  if (short_of > 0.0) {  // false for NaN
    holder.level -= std::min(short_of, std::max(ranking_.tolerance / 2, kLeastErosion));
  }
  trainee_.restore(*state_.pool[parent_].snapshot);
  record_.action = Action::rewound;
  if (masks_fixed_) return;
  state_.pool[parent_].plan = halfway(before_, record_.sparsities);
  if (random_.chance(config_.crossover_probability)) {
    cross_two();
  } else {
    mutate_parent();
  }
}

void Iteration::mutate_parent() {
  Solution& parent = state_.pool[parent_];
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
    solution->plan = deepened(solution->plan, density);
  }
  record_.action = Action::crossover;
}

void Iteration::update_statistics() {
  if (!masks_fixed_) {
    record_.migration_rate = migration_rate(migrations_);
    state_.alpha = next_alpha(state_.alpha, record_.migration_rate, config_);
  }
  update_sensitivity(state_.learned,
                     {before_, record_.sparsities, record_.accuracy - accuracy_before_},
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
        choose_layers(copy.sparsities, willing(copy.sparsities), {config_.layer_fraction, kUniform},
                      budget_, random_);
    copy.plan = mutate(copy.sparsities, layers, config_.mutation_range, budget_, random_);
    pool.push_back(std::move(copy));
  }
  std::sort(pool.begin(), pool.end(),
            [](const Solution& a, const Solution& b) { return a.id < b.id; });
  state_.pool = std::move(pool);
}

void Iteration::finish() {
  for (std::size_t i = 0; i < budget_.size(); ++i) {
    record_.kept.push_back(static_cast<double>(kept_weights_[i]) /
                           static_cast<double>(budget_.layer(i).weights));
  }
  record_.sparsity = 1.0 - budget_.density(kept_weights_);
  record_.weight_sparsity = 1.0 - budget_.weight_density(kept_weights_);
  record_.batches = state_.batches;
  record_.sensitivity = state_.learned.sensitivity;
  record_.pool = summarize(state_.pool);
  for (const Solution& solution : state_.pool) {
    if (solution.id != state_.best_id) continue;
    record_.best_accuracy = solution.accuracy;
    record_.best_sparsity = solution.sparsity();
  }
  state_.random = random_.state();
  ++state_.iteration;
}

}  // namespace winnow
