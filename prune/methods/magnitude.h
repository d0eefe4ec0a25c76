// Gradual magnitude pruning: Zhu and Gupta, "To prune, or not to prune", 2017 (arXiv 1710.01878).
#pragma once

#include "prune/methods/single_network.h"

namespace winnow {

// Before each iteration up to prune_until * iter_nr = T the smallest weights are pruned, so that
// after t of them the sparsity is
//   s_t = s_T + (s_0 - s_T) (1 - t / T)^3
// with s_0 that of the start and s_T the target; the rest of the run only trains. With
// mask_interval masks are made anew after so many batches too, t counting parts of iterations, and
// go on moving at s_T until freeze_from * iter_nr: weights that feedback trains come back.
class Magnitude : public SingleNetwork {
 public:
  // As make_method().
  Magnitude(const MethodConfig& method, const EvolutionConfig& config, Trainee& trainee,
            EvolutionState state)
      : SingleNetwork(method, config, trainee, std::move(state)) {}

 private:
  void prepare(const EvolutionState& state, IterationRecord& record) override;
  std::int64_t batches_between_masks() const override;
  void prepare_again(std::int64_t done, const EvolutionState& state,
                     IterationRecord& record) override;
  void remask(std::int64_t done, const EvolutionState& state, IterationRecord& record);
  bool goes_back_to(const Solution&) const override { return false; }
};

}  // namespace winnow
