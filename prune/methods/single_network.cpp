#include "prune/methods/single_network.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "prune/evolution/migration.h"
#include "prune/evolution/population/population.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

std::vector<std::int64_t> kept_by(std::span<const Migration> moved) {
  std::vector<std::int64_t> kept;
  for (const Migration& migration : moved) kept.push_back(migration.kept_weights);
  return kept;
}

const EvolutionConfig& checked(const EvolutionConfig& config) {
  check_config(config);
  return config;
}

}  // namespace

SingleNetwork::SingleNetwork(const MethodConfig& method, const EvolutionConfig& config,
                             Trainee& trainee, EvolutionState state)
    : method_(method),
      config_(checked(config)),
      trainee_(trainee),
      budget_(config, trainee.layers()),
      state_(std::move(state)) {
  if (state_.pool.empty()) {
    state_.random = Random(config_.seed).state();
    state_.learned.sensitivity.assign(budget_.size(), 0.0);
    state_.alphas.assign(budget_.size(), 0.0);
  } else if (state_.pool.back().sparsities.size() != budget_.size()) {
    fail(ErrorCode::bad_file, "pruning state: found ", state_.pool.back().sparsities.size(),
         " layers, the network has ", budget_.size());
  }
}

// The network as it is, under masks that were given or none.
void SingleNetwork::begin(EvolutionState& state) const {
  Solution start;
  for (std::size_t i = 0; i < budget_.size(); ++i) {
    start.sparsities.push_back(budget_.layer(i).initial_sparsity);
  }
  start.plan = start.sparsities;
  set_kept(start, kept_by(trainee_.recompute_masks(start.sparsities, {})), budget_);
  start.accuracy = trainee_.measure_accuracy();
  if (!std::isfinite(start.accuracy)) start.accuracy = 0.0;
  start.level = start.accuracy;
  start.snapshot = trainee_.snapshot();
  state.initial_density = start.density;
  state.next_id = 1;
  state.best_id = start.density <= budget_.goal_density() ? 0 : -1;
  state.pool.push_back(std::move(start));
}

std::vector<IterationRecord> SingleNetwork::step() {
  if (finished()) fail(ErrorCode::internal, "pruning: step after the last iteration");
  EvolutionState next = state_;
  if (next.pool.empty()) begin(next);
  const Solution& now = next.pool.back();
  trainee_.restore(*now.snapshot);
  kept_weights_ = now.kept_weights;
  IterationRecord record;
  record.iteration = next.iteration;
  record.solution = now.id;
  record.sparsities = now.sparsities;
  record.reference = now.accuracy;
  moved_.clear();
  prepare(next, record);
  record.loss = train(next, record);
  record.accuracy = trainee_.measure_accuracy();
  record.improvement = record.accuracy - record.reference;
  record.accepted = std::isfinite(record.loss) && std::isfinite(record.accuracy);
  next.batches += config_.batch_nr;
  if (record.accepted) {
    record.child = next.next_id;
    replace(next, make_child(next, record));
  } else {
    record.action = Action::rewound;
  }
  finish(next, record);
  state_ = std::move(next);
  return {std::move(record)};
}

double SingleNetwork::train(const EvolutionState& state, IterationRecord& record) {
  const std::int64_t interval = batches_between_masks();
  if (interval >= config_.batch_nr) return trainee_.train_batches(state.batches, config_.batch_nr);
  double loss = 0.0;
  for (std::int64_t done = 0; done < config_.batch_nr;) {
    if (done > 0) prepare_again(done, state, record);
    const std::int64_t count = std::min(interval, config_.batch_nr - done);
    loss += trainee_.train_batches(state.batches + done, count) * static_cast<double>(count);
    done += count;
  }
  return loss / static_cast<double>(config_.batch_nr);
}

void SingleNetwork::prune_to(double density, IterationRecord& record) {
  const std::vector<MagnitudeCurve> curves = reads_magnitudes(method_.allocation)
                                                 ? trainee_.magnitude_curves()
                                                 : std::vector<MagnitudeCurve>{};
  record.sparsities = allocate(method_.allocation, density, budget_, curves);
  note(trainee_.recompute_masks(record.sparsities, {}), record);
}

void SingleNetwork::keep_groups(std::span<const KeptGroups> kept, IterationRecord& record) {
  note(trainee_.keep_groups(kept), record);
  for (std::size_t i = 0; i < budget_.size(); ++i) {
    record.sparsities[i] =
        1.0 - static_cast<double>(kept_weights_[i]) / static_cast<double>(budget_.layer(i).weights);
  }
}

void SingleNetwork::note(std::span<const Migration> moved, IterationRecord& record) {
  kept_weights_ = kept_by(moved);
  moved_.insert(moved_.end(), moved.begin(), moved.end());
  record.migration = total(moved_);
  record.migration_rate = migration_rate(moved_, budget_.size());
  record.migration_rates = migration_rates(moved_, budget_.size());
}

Solution SingleNetwork::make_child(const EvolutionState& state,
                                   const IterationRecord& record) const {
  Solution child;
  child.id = state.next_id;
  child.parent = state.pool.back().id;
  child.trained = state.pool.back().trained + config_.batch_nr;
  child.sparsities = record.sparsities;
  child.plan = record.sparsities;
  set_kept(child, kept_weights_, budget_);
  child.accuracy = record.accuracy;
  child.level = record.accuracy;
  child.snapshot = trainee_.snapshot();
  return child;
}

void SingleNetwork::replace(EvolutionState& state, Solution child) const {
  const std::int64_t newest = child.id;
  state.pool.push_back(std::move(child));
  state.best_id = find_best(state.pool, budget_.goal_density());
  std::erase_if(state.pool, [&](const Solution& solution) {
    return solution.id != newest && solution.id != state.best_id && !goes_back_to(solution);
  });
  ++state.next_id;
}

void SingleNetwork::finish(EvolutionState& state, IterationRecord& record) const {
  for (std::size_t i = 0; i < budget_.size(); ++i) {
    record.kept.push_back(static_cast<double>(kept_weights_[i]) /
                          static_cast<double>(budget_.layer(i).weights));
  }
  record.sparsity = 1.0 - budget_.density(kept_weights_);
  record.weight_sparsity = 1.0 - budget_.weight_density(kept_weights_);
  if (!budget_.is_proportional()) record.predicted_ms = budget_.cost(kept_weights_);
  record.batches = state.batches;
  record.pool = summarize(state.pool);
  for (const Solution& solution : state.pool) {
    if (solution.id != state.best_id) continue;
    record.best_accuracy = solution.accuracy;
    record.best_sparsity = solution.sparsity();
  }
  ++state.iteration;
}

}  // namespace winnow
