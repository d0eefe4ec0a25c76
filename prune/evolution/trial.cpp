#include "prune/evolution/trial.h"

#include <algorithm>

#include "prune/evolution/budget/allocation.h"

namespace winnow {
namespace {

// Streams of the run's seed, one an iteration. Others: 0 of the evolution, batches.cpp,
// partition.cpp.
constexpr std::uint64_t kOffspringStreams = std::uint64_t{4} << 32;

// The density of `plan`, divided by the base allocation of the trainee's weights.
std::vector<double> divided(const std::vector<double>& plan, const EvolutionConfig& config,
                            const LayerBudget& budget, Trainee& trainee) {
  return allocate(*config.base_allocation, budget.planned_density(plan), budget,
                  trainee.magnitude_curves());
}

void compare(const Proposal& proposal, const EvolutionConfig& config, const LayerBudget& budget,
             Trainee& trainee, Trial& trial) {
  const Snapshot& start = *proposal.parent.snapshot;
  std::vector<MagnitudeCurve> curves;
  if (config.known_allocations) {
    trainee.restore(start);
    curves = trainee.magnitude_curves();
  }
  const IterationRecord& record = proposal.record;
  Random random(config.seed, kOffspringStreams + static_cast<std::uint64_t>(record.iteration));
  trial.offspring = make_offspring(trial.sparsities, record.layers, config, budget, curves, random);
  for (Offspring& plan : trial.offspring) {
    trainee.restore(start);
    trainee.recompute_masks(plan.sparsities, record.alpha);
    plan.loss = trainee.measure_loss(config.judge_images);
  }
  trial.chosen = least_loss(trial.offspring);
  trial.sparsities = trial.offspring[trial.chosen].sparsities;
}

void recompute(double alpha, Trainee& trainee, Trial& trial) {
  const std::vector<Migration> moved = trainee.recompute_masks(trial.sparsities, alpha);
  trial.kept_weights.clear();
  for (const Migration& migration : moved) trial.kept_weights.push_back(migration.kept_weights);
  trial.migrations.insert(trial.migrations.end(), moved.begin(), moved.end());
}

}  // namespace

Trial try_out(const Proposal& proposal, const EvolutionConfig& config, const LayerBudget& budget,
              Trainee& trainee) {
  Trial trial;
  const std::vector<double>& own = proposal.record.sparsities;
  const bool is_divided = !proposal.masks_fixed && config.base_allocation;
  if (is_divided) trainee.restore(*proposal.parent.snapshot);
  trial.sparsities = is_divided ? divided(own, config, budget, trainee) : own;
  trial.kept_weights = proposal.parent.kept_weights;
  if (config.offspring > 1 && !proposal.masks_fixed) {
    compare(proposal, config, budget, trainee, trial);
  }
  // The base allocation follows weights that feedback moves while masks stay. Another plan that was
  // chosen stays: weights that its masks have zeroed look as if that allocation were its own.
  const bool follows_weights = is_divided && trial.chosen == 0;
  trainee.restore(*proposal.parent.snapshot);
  const std::int64_t interval = proposal.masks_fixed || config.mask_interval == 0
                                    ? config.batch_nr
                                    : std::min(config.mask_interval, config.batch_nr);
  for (std::int64_t done = 0; done < config.batch_nr;) {
    if (done > 0 && follows_weights) trial.sparsities = divided(own, config, budget, trainee);
    if (!proposal.masks_fixed) recompute(proposal.record.alpha, trainee, trial);
    const std::int64_t count = std::min(interval, config.batch_nr - done);
    trial.loss +=
        trainee.train_batches(proposal.first_batch + done, count) * static_cast<double>(count);
    done += count;
  }
  trial.loss /= static_cast<double>(config.batch_nr);
  trial.accuracy = trainee.measure_accuracy();
  trial.snapshot = trainee.snapshot();
  return trial;
}

}  // namespace winnow
