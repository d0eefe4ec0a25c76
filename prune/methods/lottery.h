// Iterative magnitude pruning with rewinding: Frankle and Carbin, "The lottery ticket hypothesis",
// ICLR 2019; to weights of early training: Frankle et al., "Linear mode connectivity and the
// lottery ticket hypothesis", ICML 2020.
#pragma once

#include "prune/methods/single_network.h"

namespace winnow {

// `rounds` trainings of iter_nr / rounds iterations, each with the whole schedule of learning
// rates. Before the second and each later one the smallest weights are pruned, so that the last one
// has the target's density, and those that are kept go back to what they were after iteration
// rewind_to of the first: round r, from 0, has the density
//   d_r = d_0 (d_goal / d_0)^(r / (rounds - 1)).
class Lottery : public SingleNetwork {
 public:
  // As make_method().
  Lottery(const MethodConfig& method, const EvolutionConfig& config, Trainee& trainee,
          EvolutionState state)
      : SingleNetwork(method, config, trainee, std::move(state)) {}

 private:
  void prepare(const EvolutionState& state, IterationRecord& record) override;
  bool goes_back_to(const Solution& solution) const override {
    return solution.id == method().rewind_to;
  }
};

}  // namespace winnow
