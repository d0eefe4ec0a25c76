#include "prune/evolution/trial.h"

#include <algorithm>
#include <cmath>

#include "prune/evolution/budget/allocation.h"
#include "prune/evolution/migration.h"

namespace winnow {
namespace {

// Streams of the run's seed, one an iteration. Others: 0 of the evolution, batches.cpp,
// partition.cpp.
constexpr std::uint64_t kOffspringStreams = std::uint64_t{4} << 32;

// The masks of an iteration: on their way from what the parent keeps to the plan, which the last
// ones have. Where there is a base allocation the plan is a density alone, divided by it.
class MaskPath {
 public:
  MaskPath(const Proposal& proposal, const EvolutionConfig& config, const LayerBudget& budget)
      : parent_(proposal.parent.sparsities),
        plan_(proposal.record.sparsities),
        budget_(budget),
        base_(config.base_allocation.value_or(Allocation::global)),
        is_divided_(!proposal.masks_fixed && config.base_allocation) {}

  bool is_divided() const { return is_divided_; }

  // Of weights with these curves, which a plan that is not divided does not read.
  std::vector<double> plan(std::span<const MagnitudeCurve> curves) const {
    return is_divided_ ? divided(1.0, curves) : plan_;
  }

  // Goes to this plan, which is not the base allocation: weights that its masks have zeroed look as
  // if the base allocation were this one.
  void go_to(const std::vector<double>& plan) {
    plan_ = plan;
    is_divided_ = false;
  }

  // After this share of the way.
  std::vector<double> after(double share, Trainee& trainee) const {
    if (is_divided_) return divided(share, trainee.magnitude_curves());
    std::vector<double> sparsities;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      sparsities.push_back(std::lerp(parent_[i], plan_[i], share));
    }
    return sparsities;
  }

 private:
  // Anew for every mask, so that it follows weights that feedback moves while masks stay.
  std::vector<double> divided(double share, std::span<const MagnitudeCurve> curves) const {
    const double density =
        std::lerp(budget_.planned_density(parent_), budget_.planned_density(plan_), share);
    return allocate(base_, density, budget_, curves);
  }

  const std::vector<double>& parent_;
  std::vector<double> plan_;
  const LayerBudget& budget_;
  Allocation base_;
  bool is_divided_;
};

// Under the plan's masks. With judge_batches the network trains the iteration's first batches
// before, the same for all plans, so that the plan is what differs.
double judged_loss(const Offspring& plan, const Proposal& proposal, const EvolutionConfig& config,
                   Trainee& trainee) {
  trainee.restore(*proposal.parent.snapshot);
  trainee.recompute_masks(plan.sparsities, proposal.record.alphas);
  if (config.judge_batches > 0) trainee.train_batches(proposal.first_batch, config.judge_batches);
  return trainee.measure_loss(config.judge_images);
}

// Leads the path to the plan of least loss.
void compare(const Proposal& proposal, const EvolutionConfig& config, const LayerBudget& budget,
             Trainee& trainee, MaskPath& path, Trial& trial) {
  std::vector<MagnitudeCurve> curves;
  if (config.known_allocations || path.is_divided()) {
    trainee.restore(*proposal.parent.snapshot);
    curves = trainee.magnitude_curves();
  }
  const IterationRecord& record = proposal.record;
  Random random(config.seed, kOffspringStreams + static_cast<std::uint64_t>(record.iteration));
  // Without a gradient nothing says which pruned weights should return: those that did would be
  // any.
  const std::span<const double> least =
      config.alpha > 0.0 ? std::span<const double>() : proposal.parent.sparsities;
  trial.offspring =
      make_offspring(path.plan(curves), least, record.layers, config, budget, curves, random);
  if (trial.offspring.size() == 1) {
    trial.offspring.clear();
    return;
  }
  for (Offspring& plan : trial.offspring) {
    plan.loss = judged_loss(plan, proposal, config, trainee);
  }
  trial.chosen = least_loss(trial.offspring);
  if (trial.chosen != 0) path.go_to(trial.offspring[trial.chosen].sparsities);
}

std::vector<Migration> recompute(std::span<const double> alphas, Trainee& trainee, Trial& trial) {
  std::vector<Migration> moved = trainee.recompute_masks(trial.sparsities, alphas);
  trial.kept_weights.clear();
  for (const Migration& migration : moved) trial.kept_weights.push_back(migration.kept_weights);
  trial.migrations.insert(trial.migrations.end(), moved.begin(), moved.end());
  return moved;
}

void train(const Proposal& proposal, const EvolutionConfig& config, const MaskPath& path,
           Trainee& trainee, Trial& trial) {
  const std::int64_t interval =
      proposal.masks_fixed ? config.batch_nr : batches_between_masks(config);
  const auto all = static_cast<double>(config.batch_nr);
  std::vector<double> alphas = proposal.record.alphas;
  for (std::int64_t done = 0; done < config.batch_nr;) {
    const std::int64_t count = std::min(interval, config.batch_nr - done);
    if (!proposal.masks_fixed) {
      trial.sparsities = path.after(static_cast<double>(done + count) / all, trainee);
      const std::vector<Migration> moved = recompute(alphas, trainee, trial);
      alphas = next_alphas(std::move(alphas), moved, masks_of(config), config);
    }
    trial.loss +=
        trainee.train_batches(proposal.first_batch + done, count) * static_cast<double>(count);
    done += count;
  }
  trial.loss /= all;
}

}  // namespace

Trial try_out(const Proposal& proposal, const EvolutionConfig& config, const LayerBudget& budget,
              Trainee& trainee) {
  Trial trial;
  MaskPath path(proposal, config, budget);
  trial.sparsities = proposal.record.sparsities;
  trial.kept_weights = proposal.parent.kept_weights;
  if (config.offspring > 1 && !proposal.masks_fixed) {
    compare(proposal, config, budget, trainee, path, trial);
  }
  trainee.restore(*proposal.parent.snapshot);
  train(proposal, config, path, trainee, trial);
  trial.accuracy = trainee.measure_accuracy();
  trial.is_finite =
      std::isfinite(trial.loss) && std::isfinite(trial.accuracy) && trainee.has_finite_state();
  trial.snapshot = trainee.snapshot();
  return trial;
}

}  // namespace winnow
