// Fine-tuned structured sparsity learning: Wang et al., "Performance of training sparse deep neural
// networks on GPUs", 2019 (paper 001), whose groups are those of Wen et al. (weight_groups.h).
#pragma once

#include "prune/methods/single_network.h"

namespace winnow {

// One fused loss: the task's error, a group lasso (GroupPenalty) of group_strength, and the
// predicted processing time, as time_strength times the layer's predicted_savings() in the same sum
// over groups. There are two stages of the iterations up to T = prune_until * iter_nr, the last
// iteration excepted. The first share between_channels of them penalises filters and channels, the
// others kernel shapes; with masks of whole channels there is the first stage only. Before
// iteration t + 1 groups that have become 0 leave the masks for good, and if the network is denser
// than
//   d_t = d_0 (d_T / d_0)^(t / T)     with d_T the goal
// so do the weakest of the kind that was penalised (group_cut.h). A layer at its largest sparsity,
// and a network at the goal, is penalised no longer. The rest of the run only trains what is kept.
class Fssl : public SingleNetwork {
 public:
  // As make_method().
  Fssl(const MethodConfig& method, const EvolutionConfig& config, Trainee& trainee,
       EvolutionState state);

 private:
  void prepare(const EvolutionState& state, IterationRecord& record) override;
  bool goes_back_to(const Solution&) const override { return false; }

  GroupStage stage_of(std::int64_t iteration) const;
  GroupPenalty penalty(GroupStage stage) const;
  void drop_groups(const EvolutionState& state, IterationRecord& record);

  std::int64_t between_end_ = 0;  // iterations
  std::int64_t within_end_ = 0;
};

}  // namespace winnow
