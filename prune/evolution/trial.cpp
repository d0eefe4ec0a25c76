#include "prune/evolution/trial.h"

#include <algorithm>

#include "prune/evolution/budget/allocation.h"
#include "prune/evolution/population/operators.h"

namespace winnow {
namespace {

// Streams of the run's seed, one an iteration. Others: 0 of the evolution, batches.cpp,
// partition.cpp.
constexpr std::uint64_t kOffspringStreams = std::uint64_t{4} << 32;

// What the iteration's density is divided by: the proposal's own plan, or a known allocation of the
// weights as they are, so that it follows weights that feedback moves while masks stay.
class Plan {
 public:
  Plan(const Proposal& proposal, const EvolutionConfig& config, const LayerBudget& budget)
      : own_(proposal.record.sparsities),
        budget_(budget),
        config_(config),
        follows_weights_(!proposal.masks_fixed && config.base_allocation) {}

  bool follows_weights() const { return follows_weights_; }

  // Of the trainee's weights.
  std::vector<double> base(Trainee& trainee) const {
    if (!follows_weights_) return own_;
    return allocate(*config_.base_allocation, budget_.planned_density(own_), budget_,
                    trainee.magnitude_curves());
  }

  // `chosen` differs from `base` in its layers' densities by factors, which followed() keeps.
  void choose(std::span<const double> base, std::span<const double> chosen) {
    factors_.clear();
    if (std::equal(base.begin(), base.end(), chosen.begin())) return;
    for (std::size_t i = 0; i < base.size(); ++i) {
      factors_.push_back((1.0 - chosen[i]) / std::max(1.0 - base[i], 1e-12));
    }
  }

  std::vector<double> followed(Trainee& trainee) const {
    std::vector<double> plan = base(trainee);
    if (factors_.empty()) return plan;
    const double density = budget_.planned_density(plan);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const LayerRange& range = budget_.range(i);
      plan[i] = std::clamp(1.0 - (1.0 - plan[i]) * factors_[i], range.min, range.max);
    }
    return with_density(plan, density, budget_);
  }

 private:
  const std::vector<double>& own_;
  const LayerBudget& budget_;
  const EvolutionConfig& config_;
  bool follows_weights_;
  std::vector<double> factors_;  // [layers]; empty: the base as it is
};

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
  Plan plan(proposal, config, budget);
  if (plan.follows_weights()) trainee.restore(*proposal.parent.snapshot);
  trial.sparsities = plan.base(trainee);
  trial.kept_weights = proposal.parent.kept_weights;
  if (config.offspring > 1 && !proposal.masks_fixed) {
    const std::vector<double> base = trial.sparsities;
    compare(proposal, config, budget, trainee, trial);
    plan.choose(base, trial.sparsities);
  }
  trainee.restore(*proposal.parent.snapshot);
  const std::int64_t interval = proposal.masks_fixed || config.mask_interval == 0
                                    ? config.batch_nr
                                    : std::min(config.mask_interval, config.batch_nr);
  for (std::int64_t done = 0; done < config.batch_nr;) {
    if (done > 0 && plan.follows_weights()) trial.sparsities = plan.followed(trainee);
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
