#include "prune/methods/fssl.h"

#include <algorithm>
#include <cmath>

#include "prune/methods/group_cut.h"
#include "prune/methods/predicted_saving.h"

namespace winnow {

Fssl::Fssl(const MethodConfig& method, const EvolutionConfig& config, Trainee& trainee,
           EvolutionState state)
    : SingleNetwork(method, config, trainee, std::move(state)) {
  within_end_ = std::min(rising_iterations(config), config.iter_nr - 1);
  between_end_ = std::llround(method.between_channels * static_cast<double>(within_end_));
}

GroupStage Fssl::stage_of(std::int64_t iteration) const {
  if (iteration < between_end_) return GroupStage::between_channels;
  return iteration < within_end_ ? GroupStage::within_channels : GroupStage::none;
}

void Fssl::prepare(const EvolutionState& state, IterationRecord& record) {
  const GroupStage stage = stage_of(state.iteration);
  record.phase = stage == GroupStage::none ? Phase::tune : Phase::rise;
  if (state.iteration <= within_end_) drop_groups(state, record);
  trainee().set_penalty(penalty(stage));
}

void Fssl::drop_groups(const EvolutionState& state, IterationRecord& record) {
  const std::vector<GroupNorms> norms = trainee().group_norms();
  std::vector<KeptGroups> kept = living_groups(norms);
  const double goal = budget().goal_density();
  double wanted = state.iteration < within_end_ ? state.initial_density : goal;
  if (state.iteration > 0 && wanted > goal) {
    wanted *= std::pow(goal / wanted,
                       static_cast<double>(state.iteration) / static_cast<double>(within_end_));
  }
  const bool cuts_shapes = stage_of(state.iteration - 1) == GroupStage::within_channels;
  kept = cut_groups(norms, std::move(kept), cuts_shapes, wanted, kept_weights(), budget());
  keep_groups(kept, record);
}

GroupPenalty Fssl::penalty(GroupStage stage) const {
  GroupPenalty penalty{.stage = stage};
  const bool is_done = budget().density(kept_weights()) <= budget().goal_density();
  if (is_done) penalty.stage = GroupStage::none;
  const std::vector<double> savings = predicted_savings(budget(), kept_weights());
  for (std::size_t i = 0; i < budget().size(); ++i) {
    const double kept =
        static_cast<double>(kept_weights()[i]) / static_cast<double>(budget().layer(i).weights);
    const LayerRange& range = budget().range(i);
    const bool is_full = range.excluded || 1.0 - kept >= range.max;
    penalty.strengths.push_back(
        is_full ? 0.0 : method().group_strength + method().time_strength * savings[i]);
  }
  return penalty;
}

}  // namespace winnow
