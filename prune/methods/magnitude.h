// Gradual magnitude pruning: Zhu and Gupta, "To prune, or not to prune", 2017 (arXiv 1710.01878).
#pragma once

#include "prune/methods/single_network.h"

namespace winnow {

// Before each iteration up to prune_until * iter_nr = T the smallest weights are pruned, so that
// after t of them the sparsity is
//   s_t = s_T + (s_0 - s_T) (1 - t / T)^3
// with s_0 that of the start and s_T the target; the rest of the run only trains.
class Magnitude : public SingleNetwork {
 public:
  // As make_method().
  Magnitude(const MethodConfig& method, const EvolutionConfig& config, Trainee& trainee,
            EvolutionState state)
      : SingleNetwork(method, config, trainee, std::move(state)) {}

 private:
  void prepare(const EvolutionState& state, IterationRecord& record) override;
  bool goes_back_to(const Solution&) const override { return false; }
};

}  // namespace winnow
